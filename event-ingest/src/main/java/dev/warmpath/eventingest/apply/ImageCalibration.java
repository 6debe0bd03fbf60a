package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.ImageForm;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds out how a vLLM engine names images: which of the names that an image sent to it may have is
 * the one that the engine announces. The names are digests, so one that is found proves its form.
 *
 * <p>Thread-safe; {@link #observeStore} is the writer's.
 */
final class ImageCalibration {

  /** Names of images that were sent last; further ones drop the oldest. */
  private static final int MOST_NAMES = 4096;

  private final Map<String, ImageForm> sent = new LinkedHashMap<>();
  private volatile boolean waits;
  private volatile @Nullable ImageForm known;

  /** What was found; null for nothing. */
  @Nullable ImageForm known() {
    return known;
  }

  /** Names that are waited for. */
  synchronized int waiting() {
    return sent.size();
  }

  /** Another process has found it out; null if it has not. */
  void restore(@Nullable ImageForm form) {
    known = form;
  }

  /** The next lifetime may have another. */
  synchronized void reset() {
    known = null;
    sent.clear();
    waits = false;
  }

  /** An image is sent there that may have these names. */
  synchronized void addCandidates(Map<String, ImageForm> names) {
    if (known != null) {
      return;
    }
    sent.putAll(names);
    Iterator<String> oldest = sent.keySet().iterator();
    while (sent.size() > MOST_NAMES) {
      oldest.next();
      oldest.remove();
    }
    waits = !sent.isEmpty();
  }

  /** The engine has stored blocks. */
  void observeStore(EventRow store) {
    if (!waits || store.keys().perBlock().isEmpty()) {
      return;
    }
    for (int i = 0; i < store.hashCount(); i++) {
      for (ExtraKey key : store.extraKeys(i)) {
        if (key instanceof ExtraKey.Multimodal item && found(item.identifier())) {
          return;
        }
      }
    }
  }

  private synchronized boolean found(String name) {
    ImageForm form = sent.get(name);
    if (form == null) {
      return false;
    }
    known = form;
    sent.clear();
    waits = false;
    return true;
  }
}
