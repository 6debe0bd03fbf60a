package dev.warmpath.router.fleet;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The replicas that there are at the moment, in the order in which they came; names are unique. The
 * list is a value: a change puts another in its place, so that nobody sees half of a change.
 *
 * <p>Thread-safe.
 */
public final class Fleet {

  private final Object changes = new Object();
  private final List<Consumer<Replica>> onRemoval = new CopyOnWriteArrayList<>();
  private volatile List<Replica> replicas = List.of();
  private volatile boolean transfers;

  /** The replicas now, as a list that does not change any more. */
  public List<Replica> replicas() {
    return replicas;
  }

  /** Whether the KV cache of any of them can get to another one. */
  public boolean transfers() {
    return transfers;
  }

  /** One of them says that it is for this from now on. */
  public void updateTransfer(Replica replica, KvTransfer is) {
    synchronized (changes) {
      replica.updateTransfer(is);
      transfers = replicas.stream().anyMatch(each -> each.transfer().decodes());
    }
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
      change(List.of(), List.of(replica));
      return true;
    }
  }

  /**
   * Forgets some replicas and adds others, all at once; what runs at those that leave runs on.
   *
   * @param come of names that nobody has who stays
   * @throws IllegalArgumentException if a name would be there twice; nothing was changed then
   */
  public void change(List<Replica> gone, List<Replica> come) {
    synchronized (changes) {
      List<Replica> next = new ArrayList<>(replicas);
      next.removeAll(gone);
      Set<String> names = new HashSet<>();
      next.forEach(replica -> names.add(replica.name()));
      for (Replica replica : come) {
        if (!names.add(replica.name())) {
          throw new IllegalArgumentException("name=" + replica.name());
        }
        next.add(replica);
      }
      gone.forEach(Replica::markGone);
      replicas = List.copyOf(next);
      transfers = replicas.stream().anyMatch(replica -> replica.transfer().decodes());
    }
    gone.forEach(replica -> onRemoval.forEach(listener -> listener.accept(replica)));
  }

  /**
   * The models that some replica serves, and none that is well. Their requests go to the least bad
   * replicas. Drained replicas do not count.
   */
  public Set<String> modelsWithoutReplica() {
    Set<String> served = new TreeSet<>();
    Set<String> well = new HashSet<>();
    for (Replica replica : replicas) {
      if (replica.draining()) {
        continue;
      }
      if (!replica.isWell()) {
        served.addAll(replica.models());
      } else if (replica.namesModels()) {
        well.addAll(replica.models());
      } else {
        return Set.of(); // it may serve any
      }
    }
    served.removeAll(well);
    return served;
  }

  /** Calls {@code listener} with each replica that is removed from now on, by who removes it. */
  public void onRemoval(Consumer<Replica> listener) {
    onRemoval.add(listener);
  }
}
