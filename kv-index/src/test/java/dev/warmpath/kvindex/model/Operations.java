package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StorageTier;
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
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Generates operations that get in each other's way. */
public final class Operations {

  private static final List<CacheLayout> LAYOUTS =
      List.of(
          layout(1, 0, full(2)),
          layout(1, 0, full(2), window(1, 2, 4)),
          layout(1, 0, full(2), window(1, 2, 3), mamba(2, 4)),
          layout(1, 0, full(4), window(1, 2, 9)),
          layout(1, 1, full(2), window(1, 2, 4)),
          layout(2, 1, full(2)),
          layout(0, 0, window(0, 2, 1), mamba(1, 2)),
          layout(1, 2, mamba(0, 2)),
          layout(1, 0, window(0, 4, 6), full(1, 2)),
          layout(1, 0, full(2), window(1, 3, 4)),
          layout(1, 0, full(1)),
          layout(1, 0, full(2), new CacheGroup(1, Kind.UNKNOWN, 2, 0)),
          layout(1, 0));

  private Operations() {}

  /** Sequences that begin with one engine. */
  public static Arbitrary<List<Operation>> sequences(int maxLength) {
    return Combinators.combine(adds(), any().list().ofMinSize(1).ofMaxSize(maxLength))
        .as((first, rest) -> {
          rest.add(0, first);
          return rest;
        });
  }

  private static Arbitrary<Operation> any() {
    return Arbitraries.frequencyOf(
        Tuple.of(60, stores()),
        Tuple.of(35, drops()),
        Tuple.of(4, adds()),
        Tuple.of(3, engines().map(Remove::new)),
        Tuple.of(2, Combinators.combine(engines(), layouts()).as(Layout::new)),
        Tuple.of(1, engines().map(Clear::new)),
        Tuple.of(8, engines().map(Suspend::new)),
        Tuple.of(10, proofs()),
        Tuple.of(4, computations()),
        Tuple.of(3, joins()));
  }

  private static Arbitrary<Operation> adds() {
    return Combinators.combine(
            Arbitraries.frequency(
                Tuple.of(2, CopyCounting.PER_COPY), Tuple.of(1, CopyCounting.PRESENCE)),
            layouts())
        .as(Add::new);
  }

  private static Arbitrary<CacheLayout> layouts() {
    return Arbitraries.frequencyOf(
        Tuple.of(1, Arbitraries.just(LAYOUTS.get(0))), Tuple.of(2, Arbitraries.of(LAYOUTS)));
  }

  private static Arbitrary<Operation> stores() {
    Arbitrary<How> named =
        Arbitraries.frequency(
            Tuple.of(12, How.NAMED), Tuple.of(3, How.UNNAMED), Tuple.of(2, How.AGAIN));
    Arbitrary<Integer> counts = Arbitraries.integers().between(1, PromptTree.DEPTH);
    return Combinators.combine(engines(), places(), paths(), counts, named).as(Store::new);
  }

  private static Arbitrary<Operation> proofs() {
    Arbitrary<Integer> prompts = Arbitraries.frequency(Tuple.of(3, 0), Tuple.of(1, 1));
    Arbitrary<Integer> counts = Arbitraries.integers().between(0, PromptTree.DEPTH + 1);
    return Combinators.combine(engines(), places(), prompts, counts).as(Confirm::new);
  }

  private static Arbitrary<Operation> computations() {
    Arbitrary<Integer> counts = Arbitraries.integers().between(1, PromptTree.DEPTH);
    return Combinators.combine(engines(), places(), paths(), counts).as(Compute::new);
  }

  private static Arbitrary<Operation> joins() {
    Arbitrary<Integer> counts = Arbitraries.integers().between(1, PromptTree.DEPTH);
    return Combinators.combine(engines(), engines(), places(), paths(), counts).as(Join::new);
  }

  private static Arbitrary<Operation> drops() {
    return Combinators.combine(engines(), places(), paths()).as(Drop::new);
  }

  private static Arbitrary<Integer> engines() {
    return Arbitraries.frequency(Tuple.of(6, 0), Tuple.of(2, 1), Tuple.of(1, 2));
  }

  private static Arbitrary<Place> places() {
    Arbitrary<StorageTier> tiers =
        Arbitraries.frequency(
            Tuple.of(20, StorageTier.GPU),
            Tuple.of(3, StorageTier.CPU),
            Tuple.of(1, StorageTier.DISK));
    Arbitrary<Integer> groups =
        Arbitraries.frequency(Tuple.of(6, 0), Tuple.of(3, 1), Tuple.of(1, 2));
    return Combinators.combine(tiers, groups).as(Place::new);
  }

  private static Arbitrary<Path> paths() {
    Arbitrary<Integer> prompts =
        Arbitraries.frequencyOf(
            Tuple.of(4, Arbitraries.of(0, 1)),
            Tuple.of(1, Arbitraries.integers().between(0, PromptTree.LEAVES - 1)));
    Arbitrary<Integer> blocks =
        Arbitraries.frequency(Tuple.of(4, 0), Tuple.of(3, 1), Tuple.of(2, 2), Tuple.of(1, 3));
    Arbitrary<Integer> lies =
        Arbitraries.frequency(Tuple.of(150, 0), Tuple.of(1, 1), Tuple.of(1, 2));
    return Combinators.combine(prompts, blocks, lies).as(Path::new);
  }

  private static CacheLayout layout(int withheldTokens, int droppedBlocks, CacheGroup... groups) {
    return new CacheLayout(List.of(groups), withheldTokens, droppedBlocks);
  }

  private static CacheGroup full(int blockSizeTokens) {
    return full(0, blockSizeTokens);
  }

  private static CacheGroup full(int index, int blockSizeTokens) {
    return new CacheGroup(index, Kind.FULL_ATTENTION, blockSizeTokens, 0);
  }

  private static CacheGroup window(int index, int blockSizeTokens, int windowTokens) {
    return new CacheGroup(index, Kind.SLIDING_WINDOW, blockSizeTokens, windowTokens);
  }

  private static CacheGroup mamba(int index, int blockSizeTokens) {
    return new CacheGroup(index, Kind.MAMBA, blockSizeTokens, 0);
  }
}
