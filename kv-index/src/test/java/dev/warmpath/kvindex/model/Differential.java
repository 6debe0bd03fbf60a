package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.Operation.Add;
import dev.warmpath.kvindex.model.Operation.Clear;
import dev.warmpath.kvindex.model.Operation.Compute;
import dev.warmpath.kvindex.model.Operation.Confirm;
import dev.warmpath.kvindex.model.Operation.Drop;
import dev.warmpath.kvindex.model.Operation.How;
import dev.warmpath.kvindex.model.Operation.Join;
import dev.warmpath.kvindex.model.Operation.Layout;
import dev.warmpath.kvindex.model.Operation.Path;
import dev.warmpath.kvindex.model.Operation.Place;
import dev.warmpath.kvindex.model.Operation.Remove;
import dev.warmpath.kvindex.model.Operation.Store;
import dev.warmpath.kvindex.model.Operation.Suspend;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Does the same operations to an index and to the {@link ReferenceModel}, and compares all answers
 * after each.
 *
 * <p>Works for any {@link KvIndex} that was made for {@link #MAX_ORPHANS} orphans an engine.
 */
public final class Differential<I extends KvIndex> {

  /** Few, so that they overflow. */
  public static final int MAX_ORPHANS = 5;

  private static final int MAX_ENGINES = 3;
  private static final PromptTree TREE = new PromptTree();

  private final Supplier<I> newIndex;
  private final Consumer<I> invariants;

  /**
   * @param newIndex makes an empty index
   * @param invariants checked after each operation
   */
  public Differential(Supplier<I> newIndex, Consumer<I> invariants) {
    this.newIndex = newIndex;
    this.invariants = invariants;
  }

  /** The first difference, in words; empty when there is none. */
  public Optional<String> firstDifference(List<Operation> operations) {
    I index = newIndex.get();
    Side tested = new Side(index);
    Side truth = new Side(new ReferenceModel(MAX_ORPHANS));
    for (Operation operation : operations) {
      tested.apply(operation);
      truth.apply(operation);
      invariants.accept(index);
      Optional<String> difference = difference(tested, truth);
      if (difference.isPresent()) {
        return difference.map(what -> what + " after " + operation);
      }
    }
    return Optional.empty();
  }

  private static Optional<String> difference(Side tested, Side truth) {
    for (int engine = 0; engine < truth.slots.size(); engine++) {
      EngineStats stats = tested.index.stats(tested.slots.get(engine));
      EngineStats expected = truth.index.stats(truth.slots.get(engine));
      if (!stats.equals(expected)) {
        return Optional.of("engine " + engine + ": " + stats + ", expected " + expected);
      }
      long onGpu = tested.index.blocksOnGpu(tested.slots.get(engine));
      if (onGpu != KvIndex.UNKNOWN && onGpu != expected.heldBlocks()) {
        return Optional.of("engine " + engine + ": " + onGpu + " on its GPU, not " + expected);
      }
    }
    long[] sole = tested.index.soleBlocks();
    long[] trulySole = truth.index.soleBlocks();
    for (int engine = 0; engine < truth.slots.size() && sole.length > 0; engine++) {
      long found = sole[tested.slots.get(engine)];
      long expected = trulySole[truth.slots.get(engine)];
      if (found != expected) {
        return Optional.of("engine " + engine + ": soleBlocks=" + found + " not " + expected);
      }
    }
    for (BlockChain question : TREE.questions()) {
      String answer = tested.answer(question);
      String expected = truth.answer(question);
      if (!answer.equals(expected)) {
        return Optional.of("tokens by engine and tier " + answer + ", expected " + expected);
      }
    }
    return Optional.empty();
  }

  /** An index and the slots of its living engines, oldest first. */
  private static final class Side {

    private final KvIndex index;
    private final List<Integer> slots = new ArrayList<>();
    private final PrefixMatches matches = new PrefixMatches();
    private final StoredBlocks blocks = new StoredBlocks();
    private final RemovedBlocks removed = new RemovedBlocks();

    /** Of all hashes that could not be joined. */
    private long left;

    Side(KvIndex index) {
      this.index = index;
    }

    void apply(Operation operation) {
      if (operation instanceof Add add) {
        add(add);
      } else if (operation instanceof Remove remove && slots.size() > remove.engine()) {
        index.removeEngine(slots.remove(remove.engine()));
      } else if (operation instanceof Layout layout && slots.size() > layout.engine()) {
        index.layout(slots.get(layout.engine()), layout.layout());
      } else if (operation instanceof Clear clear && slots.size() > clear.engine()) {
        index.cleared(slots.get(clear.engine()));
      } else if (operation instanceof Store store && slots.size() > store.engine()) {
        index.stored(
            slots.get(store.engine()),
            blocks(store.place(), store.path(), store.count(), store.how()));
      } else if (operation instanceof Suspend suspend && slots.size() > suspend.engine()) {
        index.suspended(slots.get(suspend.engine()));
      } else if (operation instanceof Compute compute && slots.size() > compute.engine()) {
        Place place = compute.place();
        index.computed(
            slots.get(compute.engine()), blocks(place, compute.path(), compute.count(), How.NAMED));
      } else if (operation instanceof Confirm confirm && slots.size() > confirm.engine()) {
        index.confirmed(
            slots.get(confirm.engine()),
            confirm.place().tier(),
            confirm.place().group(),
            TREE.prompt(confirm.prompt()),
            confirm.blocks());
      } else if (operation instanceof Join join
          && slots.size() > Math.max(join.engine(), join.namer())) {
        join(join);
      } else if (operation instanceof Drop drop && slots.size() > drop.engine()) {
        int slot = slots.get(drop.engine());
        removed.from(drop.place().tier(), drop.place().group()).add(hash(drop.path(), 0));
        index.removed(slot, removed);
      }
    }

    private void join(Join join) {
      int count = Math.min(join.count(), PromptTree.DEPTH - join.path().block());
      long[] hashes = LongStream.range(0, count).map(i -> hash(join.path(), (int) i)).toArray();
      Place place = join.place();
      int slot = slots.get(join.engine());
      int nameless =
          index.joined(slot, slots.get(join.namer()), place.tier(), place.group(), hashes, count);
      for (int i = 0; i < nameless; i++) {
        left = 31 * left + hashes[i];
      }
    }

    /** Tokens by engine and tier, as text. */
    String answer(BlockChain question) {
      index.match(question, matches);
      StringBuilder text = new StringBuilder();
      for (int slot : slots) {
        for (StorageTier tier : StorageTier.values()) {
          text.append(matches.tokens(slot, tier)).append(' ');
        }
        text.append(matches.hostTokens(slot)).append(' ');
        text.append("| ");
      }
      text.append(left);
      return text.toString();
    }

    private void add(Add add) {
      if (slots.size() < MAX_ENGINES) {
        int slot = index.addEngine(add.counting());
        slots.add(slot);
        index.layout(slot, add.layout());
      }
    }

    private StoredBlocks blocks(Place place, Path path, int most, How how) {
      if (how == How.UNNAMED) {
        blocks.unnamed(place.tier(), place.group());
      } else if (path.block() == 0) {
        long root = PromptTree.SPACE.rootKey();
        blocks.atRoot(place.tier(), place.group(), root);
      } else {
        blocks.behind(place.tier(), place.group(), hash(path, -1));
      }
      if (how == How.AGAIN) {
        blocks.ifAbsent();
      }
      int count = Math.min(most, PromptTree.DEPTH - path.block());
      for (int i = 0; i < count; i++) {
        blocks.add(hash(path, i), TREE.localHash(path.prompt(), path.block() + i));
      }
      return blocks;
    }

    private static long hash(Path path, int offset) {
      return PromptTree.engineHash(path.prompt(), path.block() + offset) + path.lie();
    }
  }
}
