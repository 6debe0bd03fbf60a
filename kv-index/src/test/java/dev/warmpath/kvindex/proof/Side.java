package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Step.Arrive;
import dev.warmpath.kvindex.workload.Step.Below;
import dev.warmpath.kvindex.workload.Step.Clear;
import dev.warmpath.kvindex.workload.Step.Compute;
import dev.warmpath.kvindex.workload.Step.Confirm;
import dev.warmpath.kvindex.workload.Step.Leave;
import dev.warmpath.kvindex.workload.Step.Place;
import dev.warmpath.kvindex.workload.Step.Relayout;
import dev.warmpath.kvindex.workload.Step.Reload;
import dev.warmpath.kvindex.workload.Step.Remove;
import dev.warmpath.kvindex.workload.Step.Store;
import dev.warmpath.kvindex.workload.Step.Suspend;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * An index to which steps are done, and the slots of the engines that are there.
 *
 * <p>Single writer.
 */
public final class Side<I extends KvIndex> {

  private final UnaryOperator<I> reload;
  private final Map<Integer, Integer> slots = new TreeMap<>();
  private final BitSet taken = new BitSet();
  private final PrefixMatches matches = new PrefixMatches();
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();
  private I index;

  public Side(I index, UnaryOperator<I> reload) {
    this.index = index;
    this.reload = reload;
  }

  public I index() {
    return index;
  }

  /** The slot of each engine that is there. */
  public Map<Integer, Integer> slots() {
    return slots;
  }

  /** Whether an engine has this slot. */
  public boolean isTaken(int slot) {
    return taken.get(slot);
  }

  public void apply(Step step) {
    if (step instanceof Arrive arrive) {
      arrive(arrive);
    } else if (step instanceof Leave leave && slots.containsKey(leave.engine())) {
      leave(slots.remove(leave.engine()));
    } else if (step instanceof Relayout relayout && slots.containsKey(relayout.engine())) {
      index.layout(slots.get(relayout.engine()), relayout.layout());
    } else if (step instanceof Clear clear && slots.containsKey(clear.engine())) {
      index.cleared(slots.get(clear.engine()));
    } else if (step instanceof Store store && slots.containsKey(store.engine())) {
      index.stored(slots.get(store.engine()), columns(store));
    } else if (step instanceof Remove remove && slots.containsKey(remove.engine())) {
      index.removed(slots.get(remove.engine()), columns(remove));
    } else if (step instanceof Suspend suspend && slots.containsKey(suspend.engine())) {
      index.suspended(slots.get(suspend.engine()));
    } else if (step instanceof Confirm confirm && slots.containsKey(confirm.engine())) {
      confirm(slots.get(confirm.engine()), confirm);
    } else if (step instanceof Compute compute && slots.containsKey(compute.names().engine())) {
      index.computed(slots.get(compute.names().engine()), columns(compute.names()));
    } else if (step instanceof Reload) {
      index = reload.apply(index);
    }
  }

  /** The answer; valid until the next one. */
  public PrefixMatches answer(BlockChain question) {
    index.match(question, matches);
    return matches;
  }

  private void arrive(Arrive arrive) {
    int slot = index.addEngine(arrive.counting());
    if (taken.get(slot)) {
      throw new IllegalStateException("slot=" + slot + " was given twice");
    }
    taken.set(slot);
    slots.put(arrive.engine(), slot);
    index.layout(slot, arrive.layout());
  }

  private void confirm(int slot, Confirm confirm) {
    Place place = confirm.place();
    index.confirmed(slot, place.tier(), place.group(), confirm.prompt(), confirm.blocks());
  }

  private void leave(int slot) {
    taken.clear(slot);
    index.removeEngine(slot);
  }

  private StoredBlocks columns(Store store) {
    Below below = store.below();
    if (!below.named()) {
      stored.unnamed(store.place().tier(), store.place().group());
    } else if (below.atRoot()) {
      stored.atRoot(store.place().tier(), store.place().group(), below.parent());
    } else {
      stored.behind(store.place().tier(), store.place().group(), below.parent());
    }
    if (below.again()) {
      stored.ifAbsent();
    }
    for (int i = 0; i < store.hashes().length; i++) {
      stored.add(store.hashes()[i], store.localHashes()[i]);
    }
    return stored;
  }

  private RemovedBlocks columns(Remove remove) {
    removed.from(remove.place().tier(), remove.place().group());
    for (long hash : remove.hashes()) {
      removed.add(hash);
    }
    return removed;
  }
}
