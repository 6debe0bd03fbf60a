package dev.warmpath.router.health;

import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.tokenizer.image.ImageNaming;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * In which forms the engines of a model may name images. Those that were found out are enough once
 * all engines are; for an engine that is not, all forms are tried at first, and now and then later.
 *
 * <p>Thread-safe.
 */
public final class EngineImages {

  /** So many chats with images are tried in all forms when an engine is not found out. */
  private static final long FIRST_TRIES = 256;

  /** And then each so many of them. */
  private static final long EVERY = 64;

  /** Models of that many names are served as one. */
  private static final int MOST_ROOTS = 4;

  /** Models whose chats are counted; with more of them all are counted anew. */
  private static final int MOST_MODELS = 1024;

  private final Fleet fleet;
  private final ModelCatalog catalog;
  private final EngineEvents engineEvents;
  private final Map<Set<String>, Tries> triesByRoots = new ConcurrentHashMap<>();

  /** Chats of a model since the last engine joined those that are not found out. */
  private static final class Tries {
    private Set<String> unknown = Set.of();
    private long chats;

    /** Whether the next chat is to be tried in all forms, while these are not found out. */
    synchronized boolean next(Set<String> engines) {
      if (!unknown.containsAll(engines)) {
        chats = 0;
      }
      unknown = engines;
      return !engines.isEmpty() && (chats++ < FIRST_TRIES || chats % EVERY == 1);
    }
  }

  public EngineImages(Fleet fleet, ModelCatalog catalog, EngineEvents engineEvents) {
    this.fleet = fleet;
    this.catalog = catalog;
    this.engineEvents = engineEvents;
  }

  /**
   * How the engines that serve a model may name images; asked for each chat with images.
   *
   * @param model null for whatever they serve
   */
  public ImageNaming of(@Nullable String model) {
    Set<ImageForm> found = new LinkedHashSet<>();
    Set<String> roots = new LinkedHashSet<>();
    Set<String> unknown = new HashSet<>();
    for (Replica replica : fleet.replicas()) {
      if (replica.serves(model)) {
        addFound(replica, found, unknown);
        roots.addAll(catalog.roots(replica));
      }
    }
    List<ImageForm> forms = new ArrayList<>(found);
    if (tries(roots).next(unknown)) {
      roots.stream()
          .limit(MOST_ROOTS)
          .flatMap(root -> ImageForm.all(root).stream())
          .filter(form -> !found.contains(form))
          .forEach(forms::add);
    }
    return new ImageNaming(forms, found.size() == 1 ? found.iterator().next() : null);
  }

  private Tries tries(Set<String> roots) {
    if (triesByRoots.size() >= MOST_MODELS) {
      triesByRoots.clear();
    }
    return triesByRoots.computeIfAbsent(Set.copyOf(roots), first -> new Tries());
  }

  private void addFound(Replica replica, Set<ImageForm> found, Set<String> unknown) {
    for (int rank = 0; rank < replica.ranks(); rank++) {
      ImageForm form = engineEvents.view(replica, rank).imageForm();
      if (form != null) {
        found.add(form);
      } else {
        unknown.add(replica.name() + "/" + rank);
      }
    }
  }
}
