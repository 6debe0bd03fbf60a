package dev.warmpath.router.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The replicas that there are at the moment, in the order in which they came; names are unique.
 *
 * <p>Thread-safe.
 */
public final class Fleet {

  private final Object changes = new Object();
  private final List<Consumer<Replica>> onRemoval = new CopyOnWriteArrayList<>();
  private volatile List<Replica> replicas = List.of();

  /** The replicas now, as a list that does not change any more. */
  public List<Replica> replicas() {
    return replicas;
  }

  /** The replica called {@code name}. */
  public Optional<Replica> find(String name) {
    return replicas.stream().filter(replica -> replica.name().equals(name)).findFirst();
  }

  /**
   * Adds a replica.
   *
   * @return false if there is one of that name, and nothing was changed
   */
  public boolean add(Replica replica) {
    synchronized (changes) {
      if (find(replica.name()).isPresent()) {
        return false;
      }
      List<Replica> more = new ArrayList<>(replicas);
      more.add(replica);
      replicas = List.copyOf(more);
      return true;
    }
  }

  /** Gives the replica no new requests; what runs there runs on. Returns whether there is one. */
  public boolean drain(String name) {
    Optional<Replica> found = find(name);
    found.ifPresent(Replica::drain);
    return found.isPresent();
  }

  /** Forgets the replica at once; what runs there runs on. Returns it if there was one. */
  public Optional<Replica> remove(String name) {
    Optional<Replica> found;
    synchronized (changes) {
      found = find(name);
      found.ifPresent(
          gone -> replicas = replicas.stream().filter(replica -> replica != gone).toList());
    }
    found.ifPresent(gone -> onRemoval.forEach(listener -> listener.accept(gone)));
    return found;
  }

  /** Calls {@code listener} with each replica that is removed from now on, by who removes it. */
  public void onRemoval(Consumer<Replica> listener) {
    onRemoval.add(listener);
  }
}
