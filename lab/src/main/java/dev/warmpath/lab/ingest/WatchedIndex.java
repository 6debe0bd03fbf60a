package dev.warmpath.lab.ingest;

import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * An index that counts what was applied, and asks itself for the prompt of a probe right after its
 * store, in the writer's thread: an answer in full is the moment of visibility.
 *
 * <p>Single writer, many readers; the histogram is read when the writer is done.
 */
final class WatchedIndex extends ForwardingIndex {

  private static final int DIGITS = 3;

  private final LongSupplier nanoClock;
  private final Map<Long, Probe> probes = new HashMap<>();
  private final Histogram visibleNanos = new Histogram(DIGITS);
  private final PrefixMatches matches = new PrefixMatches();
  private final AtomicLong appliedBlocks = new AtomicLong();
  private final AtomicLong unanswered = new AtomicLong();

  WatchedIndex(KvIndex index, IngestCorpus corpus, LongSupplier nanoClock) {
    super(index);
    this.nanoClock = nanoClock;
    corpus.feeds().stream()
        .flatMap(feed -> feed.probes().stream())
        .forEach(probe -> probes.put(probe.lastHash(), probe));
  }

  /** Blocks stored and removed so far. */
  long appliedBlocks() {
    return appliedBlocks.get();
  }

  /** Probes that were not answered in full. */
  long unanswered() {
    return unanswered.get();
  }

  /** From the moment at which an engine was to send a probe until it was visible. */
  Histogram visibleNanos() {
    return visibleNanos;
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    index.stored(slot, blocks);
    if (blocks.count() > 1) {
      Probe probe = probes.remove(blocks.engineHash(blocks.count() - 1));
      if (probe != null) {
        look(slot, probe);
      }
    }
    applied(blocks.count());
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    index.removed(slot, blocks);
    applied(blocks.count());
  }

  private void look(int slot, Probe probe) {
    index.match(probe.prompt(), matches);
    if (matches.tokens(slot) != probe.storedTokens()) {
      unanswered.incrementAndGet();
    } else if (probe.dueNanos() != 0) {
      visibleNanos.recordValue(Math.max(0, nanoClock.getAsLong() - probe.dueNanos()));
    }
  }

  private void applied(int blocks) {
    appliedBlocks.lazySet(appliedBlocks.getPlain() + blocks);
  }
}
