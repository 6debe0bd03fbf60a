package dev.warmpath.router.health;

import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.tokenizer.image.ImageNaming;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * In which forms the engines of a model may name images. Those that were found out are enough, but
 * now and then all forms are tried, so that an engine is found out that uses another.
 *
 * <p>Thread-safe.
 */
public final class EngineImages {

  /** So many chats with images are tried in all forms while no engine of a model is found out. */
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
  private final Map<Set<String>, AtomicLong> chatsByRoots = new ConcurrentHashMap<>();

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
    for (Replica replica : fleet.replicas()) {
      if (replica.serves(model)) {
        addFound(replica, found);
        roots.addAll(catalog.roots(replica));
      }
    }
    long number = nextChat(roots, !found.isEmpty());
    List<ImageForm> forms = new ArrayList<>(found);
    if (number % EVERY == 0 || (found.isEmpty() && number < FIRST_TRIES)) {
      roots.stream()
          .limit(MOST_ROOTS)
          .flatMap(root -> ImageForm.all(root).stream())
          .filter(form -> !found.contains(form))
          .forEach(forms::add);
    }
    return new ImageNaming(forms, found.size() == 1 ? found.iterator().next() : null);
  }

  /** The chat's number, which stays small while engines are known: if that is lost, tries begin. */
  private long nextChat(Set<String> roots, boolean isFound) {
    if (chatsByRoots.size() >= MOST_MODELS) {
      chatsByRoots.clear();
    }
    return chatsByRoots
        .computeIfAbsent(Set.copyOf(roots), first -> new AtomicLong())
        .getAndUpdate(number -> isFound && number + 1 >= EVERY ? 0 : number + 1);
  }

  private void addFound(Replica replica, Set<ImageForm> found) {
    for (int rank = 0; rank < replica.ranks(); rank++) {
      ImageForm form = engineEvents.view(replica, rank).imageForm();
      if (form != null) {
        found.add(form);
      }
    }
  }
}
