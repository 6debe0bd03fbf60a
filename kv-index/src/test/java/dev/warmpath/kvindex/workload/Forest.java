package dev.warmpath.kvindex.workload;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.workload.Habits.Trees;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Prompts that share beginnings, made of few different local hashes, so that the same block stands
 * at many places.
 *
 * <p>Immutable.
 */
final class Forest {

  /**
   * A prompt.
   *
   * @param places for each block a small number that only its name has
   * @param branches where it left the one that it was made from, and where others left it
   */
  record Prompt(ChainSpace space, long[] localHashes, int[] places, List<Integer> branches) {

    int blocks() {
      return localHashes.length;
    }
  }

  private record Behind(int place, long key) {}

  /** Where storage in pieces of a power of two would go wrong. */
  private static final int[] CORNERS = {
    0, 1, 2, 7, 8, 9, 16, 31, 32, 33, 62, 63, 64, 65, 66, 71, 72, 73, 127, 128, 129, 191, 192, 193
  };

  private static final long[] LETTERS = {
    0, 1, -1, 2, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, 0x9E3779B97F4A7C15L
  };

  private static final int MAX_ASKED = 80;
  private static final String LETTER_NAMES = "abcdefgh";

  private final Random random;
  private final long[] alphabet;
  private final List<ChainSpace> spaces = new ArrayList<>();
  private final List<Prompt> prompts = new ArrayList<>();
  private final Map<Behind, Integer> places = new HashMap<>();

  private Forest(Random random) {
    this.random = random;
    int first = random.nextInt(LETTERS.length - 3);
    alphabet = Arrays.copyOfRange(LETTERS, first, first + 1 + Math.min(2, random.nextInt(5)));
  }

  static Forest grow(Random random, Trees trees) {
    Forest forest = new Forest(random);
    int blockSizeTokens = 1 << random.nextInt(3);
    forest.spaces.add(new ChainSpace("m", blockSizeTokens, random.nextInt(2)));
    if (random.nextBoolean()) {
      int other = random.nextBoolean() ? blockSizeTokens : 1 << random.nextInt(3);
      forest.spaces.add(new ChainSpace("n", other, 0));
    }
    for (int i = 0; i < trees.prompts(); i++) {
      if (trees.isComb() && i > 0) {
        forest.branchLast(trees.maxBlocks());
      } else {
        forest.plant(trees.maxBlocks());
      }
    }
    return forest;
  }

  /** A number from 0 to {@code bound}, often one where something might go wrong. */
  static int corner(Random random, int bound) {
    return switch (random.nextInt(4)) {
      case 0 -> Math.min(bound, CORNERS[random.nextInt(CORNERS.length)]);
      case 1 -> Math.max(0, bound - random.nextInt(3));
      default -> random.nextInt(bound + 1);
    };
  }

  List<ChainSpace> spaces() {
    return spaces;
  }

  List<Prompt> prompts() {
    return prompts;
  }

  /** Number of different blocks. */
  int places() {
    return places.size();
  }

  /** What to ask: prompts, their beginnings, and some that leave the known paths. */
  List<BlockChain> questions() {
    List<BlockChain> questions = new ArrayList<>();
    int asked = Math.min(prompts.size(), MAX_ASKED);
    for (int i = 1; i <= asked; i++) {
      Prompt prompt = prompts.get(i * prompts.size() / asked - 1);
      long[] hashes = prompt.localHashes();
      questions.add(BlockChain.ofLocalHashes(prompt.space(), hashes));
      int shorter = corner(random, hashes.length);
      questions.add(BlockChain.ofLocalHashes(prompt.space(), Arrays.copyOf(hashes, shorter)));
      long[] other = Arrays.copyOf(hashes, hashes.length + 2);
      other[corner(random, hashes.length)] = letter();
      questions.add(BlockChain.ofLocalHashes(prompt.space(), other));
    }
    return questions;
  }

  /** A local hash in a few characters. */
  static String text(long localHash) {
    for (int i = 0; i < LETTERS.length; i++) {
      if (LETTERS[i] == localHash) {
        return LETTER_NAMES.substring(i, i + 1);
      }
    }
    return "(" + localHash + ")";
  }

  private long letter() {
    return alphabet[random.nextInt(alphabet.length)];
  }

  /** Adds a prompt that begins like one of the others, maybe in another space. */
  private void plant(int maxBlocks) {
    long[] localHashes = new long[1 + corner(random, maxBlocks - 1)];
    Arrays.setAll(localHashes, i -> letter());
    ChainSpace space = spaces.get(random.nextInt(4) == 0 ? spaces.size() - 1 : 0);
    int shared = 0;
    if (!prompts.isEmpty()) {
      Prompt other = prompts.get(random.nextInt(prompts.size()));
      shared = corner(random, Math.min(localHashes.length, other.blocks()));
      System.arraycopy(other.localHashes(), 0, localHashes, 0, shared);
      other.branches().add(shared);
    }
    add(space, localHashes, shared);
  }

  /** Adds a prompt that leaves the last one near its end. */
  private void branchLast(int maxBlocks) {
    Prompt last = prompts.get(prompts.size() - 1);
    int shared = Math.min(maxBlocks - 1, Math.max(0, last.blocks() - random.nextInt(3)));
    long[] localHashes =
        Arrays.copyOf(last.localHashes(), Math.min(maxBlocks, shared + 1 + random.nextInt(4)));
    for (int i = shared; i < localHashes.length; i++) {
      localHashes[i] = letter();
    }
    last.branches().add(shared);
    add(last.space(), localHashes, shared);
  }

  private void add(ChainSpace space, long[] localHashes, int branch) {
    List<Integer> branches = new ArrayList<>(List.of(branch));
    prompts.add(new Prompt(space, localHashes, places(space, localHashes), branches));
  }

  private int[] places(ChainSpace space, long[] localHashes) {
    int[] path = new int[localHashes.length];
    int before = -1 - spaces.indexOf(space);
    for (int i = 0; i < path.length; i++) {
      Behind behind = new Behind(before, localHashes[i]);
      before = places.computeIfAbsent(behind, one -> places.size());
      path[i] = before;
    }
    return path;
  }
}
