package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.workload.Layouts;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Step.Arrive;
import dev.warmpath.kvindex.workload.Step.Below;
import dev.warmpath.kvindex.workload.Step.Clear;
import dev.warmpath.kvindex.workload.Step.Leave;
import dev.warmpath.kvindex.workload.Step.Place;
import dev.warmpath.kvindex.workload.Step.Relayout;
import dev.warmpath.kvindex.workload.Step.Remove;
import dev.warmpath.kvindex.workload.Step.Store;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;

/**
 * Scripts in which no engine is ever credited with a whole prompt: before one hole is filled
 * another one is made, elsewhere on the path.
 *
 * <p>A reader that takes the beginning of the path from one state and the end from another finds no
 * hole. That is wrong whatever happened meanwhile, so a reader that was interrupted for long is
 * judged as strictly as others.
 *
 * <p>Confined to one thread.
 */
final class Seesaw {

  /** An engine, what it holds of each prompt, and whether this counts. Confined to one thread. */
  private static final class Seat {
    private final int engine;
    private final BitSet[] held;
    private boolean counts;

    private Seat(int engine, int prompts, boolean counts) {
      this.engine = engine;
      this.counts = counts;
      held = new BitSet[prompts];
      Arrays.setAll(held, i -> new BitSet());
    }
  }

  private static final int BLOCKS = 140;
  private static final int PROMPTS = 3;
  private static final int MAX_SEATS = 4;
  private static final Place GPU = new Place(StorageTier.GPU, 0);
  private static final CacheLayout NO_LAYOUT = new CacheLayout(List.of(), 0, 0);

  private final Random random;
  private final List<BlockChain> prompts = new ArrayList<>();
  private final List<Seat> seats = new ArrayList<>();
  private final List<Step> steps = new ArrayList<>();
  private int arrived;

  private Seesaw(Random random) {
    this.random = random;
    for (int i = 0; i < PROMPTS; i++) {
      long[] localHashes = new long[BLOCKS];
      Arrays.setAll(localHashes, block -> block % 3);
      prompts.add(BlockChain.ofLocalHashes(new ChainSpace("m" + i, 1, 1), localHashes));
    }
  }

  /** A script that ends as it began, without engines. */
  static Script script(long seed, int steps) {
    Seesaw seesaw = new Seesaw(new Random(seed));
    if (seed % 2 == 0) {
      seesaw.branchOften();
    }
    while (seesaw.steps.size() < steps) {
      seesaw.step();
    }
    for (int engine = 0; engine < seesaw.arrived; engine++) {
      seesaw.steps.add(new Leave(engine));
    }
    return new Script(BLOCKS, seesaw.prompts, seesaw.steps);
  }

  /** An engine that does not count holds branches all along, so that a path has many runs. */
  private void branchOften() {
    arrive(false);
    int engine = seats.remove(0).engine;
    for (int prompt = 0; prompt < PROMPTS; prompt++) {
      for (int length = 2; length < BLOCKS; length += 3) {
        long[] hashes = new long[length + 1];
        long[] localHashes = new long[length + 1];
        for (int i = 0; i < length; i++) {
          hashes[i] = hash(prompt, i);
          localHashes[i] = prompts.get(prompt).localHash(i);
        }
        hashes[length] = hash(prompt, BLOCKS + length);
        localHashes[length] = -1;
        Below root = new Below(true, true, prompts.get(prompt).space().rootKey());
        steps.add(new Store(engine, GPU, root, hashes, localHashes));
      }
    }
  }

  private void step() {
    if (seats.isEmpty() || (seats.size() < MAX_SEATS && random.nextInt(200) == 0)) {
      arrive(true);
    }
    Seat seat = seats.get(random.nextInt(seats.size()));
    int prompt = random.nextInt(8) == 0 ? random.nextInt(PROMPTS) : 0;
    int from = random.nextInt(BLOCKS);
    switch (random.nextInt(200)) {
      case 0 -> leave(seat);
      case 1 -> clear(seat);
      case 2, 3, 4, 5 -> judge(seat);
      case 6, 7 -> drop(seat, prompt, 0, BLOCKS);
      case 8, 9, 10 -> drop(seat, prompt, from, Math.min(BLOCKS, from + random.nextInt(BLOCKS)));
      case 11, 12, 13 -> drop(seat, prompt, from, BLOCKS);
      default -> fill(seat, prompt);
    }
  }

  private void arrive(boolean counts) {
    seats.add(new Seat(arrived, PROMPTS, counts));
    CacheLayout layout = counts ? Layouts.plain(1) : NO_LAYOUT;
    steps.add(new Arrive(arrived++, CopyCounting.PRESENCE, layout));
  }

  private void leave(Seat seat) {
    seats.remove(seat);
    steps.add(new Leave(seat.engine));
  }

  private void clear(Seat seat) {
    Arrays.stream(seat.held).forEach(BitSet::clear);
    steps.add(new Clear(seat.engine));
  }

  /**
   * Begins to count what the engine holds, unless it holds all of a prompt; or counts it no more.
   */
  private void judge(Seat seat) {
    boolean isWhole = Arrays.stream(seat.held).anyMatch(held -> held.cardinality() == BLOCKS);
    if (seat.counts || !isWhole) {
      seat.counts = !seat.counts;
      steps.add(new Relayout(seat.engine, seat.counts ? Layouts.plain(1) : NO_LAYOUT));
    }
  }

  private void drop(Seat seat, int prompt, int from, int to) {
    long[] hashes =
        seat.held[prompt].get(from, to).stream()
            .mapToLong(block -> hash(prompt, from + block))
            .toArray();
    seat.held[prompt].clear(from, to);
    if (hashes.length == 0) {
      return;
    }
    steps.add(new Remove(seat.engine, GPU, reversed(hashes)));
  }

  /** Fills the first hole, but makes another one before if it is the last one and counts. */
  private void fill(Seat seat, int prompt) {
    BitSet held = seat.held[prompt];
    int from = held.nextClearBit(0);
    int next = held.nextSetBit(from);
    int to = next < 0 ? BLOCKS : next;
    boolean isLast = held.cardinality() + to - from == BLOCKS;
    if (seat.counts && isLast) {
      int hole = random.nextInt(BLOCKS);
      drop(seat, prompt, hole, hole + 1);
      to = hole >= from && hole < to ? hole : to;
    }
    if (from < to) {
      store(seat, prompt, from, to);
    }
  }

  private void store(Seat seat, int prompt, int from, int to) {
    long[] hashes = new long[to - from];
    Arrays.setAll(hashes, i -> hash(prompt, from + i));
    long[] localHashes = new long[to - from];
    Arrays.setAll(localHashes, i -> prompts.get(prompt).localHash(from + i));
    seat.held[prompt].set(from, to);
    long root = prompts.get(prompt).space().rootKey();
    Below below =
        from == 0 ? new Below(true, true, root) : new Below(true, false, hash(prompt, from - 1));
    steps.add(new Store(seat.engine, GPU, below, hashes, localHashes));
  }

  private static long hash(int prompt, int block) {
    return prompt * 1_000L + block;
  }

  private static long[] reversed(long[] hashes) {
    long[] reversed = new long[hashes.length];
    Arrays.setAll(reversed, i -> hashes[hashes.length - 1 - i]);
    return reversed;
  }
}
