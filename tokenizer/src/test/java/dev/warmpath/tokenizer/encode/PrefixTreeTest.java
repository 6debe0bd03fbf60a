package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockRun;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** An encode in flight holds nodes while others make the tree drop them. */
class PrefixTreeTest {

  private static final int[] IDS = new int[2_000];
  private static final int LOOKAHEAD = 5;
  private static final int MOST_ALIKE = 32;

  @Test
  void whatIsDroppedIsNotLinkedAgainByWhatStoodBehindIt() {
    PrefixTree tree = new PrefixTree(8 << 20, LOOKAHEAD);
    PrefixNode first = add(tree, null, alike(0));
    PrefixNode second = add(tree, first, alike(0));
    for (int i = 1; i <= MOST_ALIKE; i++) {
      add(tree, null, alike(i));
      tree.checkInvariants();
    }
    assertThat(tree.walk(alike(0))).as("the oldest of those alike").isNull();
    PrefixNode third = add(tree, second, alike(0));
    assertThat(third.endTokens()).isEqualTo(3 * IDS.length);
    tree.checkInvariants();
    assertThat(tree.walk(alike(0))).isNull();
    assertThat(tree.counts().evictions()).isEqualTo(2);
  }

  /** Texts that are alike, each encoded step by step, all by turns. */
  @Property(tries = 30)
  void anyTurnsKeepTheInvariants(@ForAll Random random) {
    int pieceBytes = PrefixTree.PIECE_CHARS + Integer.BYTES * IDS.length;
    PrefixTree tree = new PrefixTree((20 + random.nextInt(60)) * pieceBytes, LOOKAHEAD);
    List<PrefixNode> inFlight = new ArrayList<>();
    for (int text = 0; text < MOST_ALIKE + 8; text++) {
      inFlight.add(null);
    }
    for (int turn = 0; turn < 150; turn++) {
      int at = random.nextInt(inFlight.size());
      String text = alike(at);
      PrefixNode last = inFlight.get(at);
      if (last != null && random.nextBoolean()) {
        last.blocks(run(1 + random.nextInt(16)));
      } else if (last != null && last.end() + PrefixTree.PIECE_CHARS + LOOKAHEAD > text.length()) {
        inFlight.set(at, tree.walk(text));
      } else {
        inFlight.set(at, add(tree, last, text));
      }
      tree.checkInvariants();
    }
  }

  @Test
  void blockHashesAreWeighedAsTheyAre() {
    PrefixTree tree = new PrefixTree(1 << 20, LOOKAHEAD);
    PrefixNode node = add(tree, null, alike(0));
    long without = tree.counts().bytes();
    node.blocks(run(1));
    assertThat(tree.counts().bytes()).isEqualTo(without + (long) Long.BYTES * IDS.length);
    node.blocks(run(16));
    assertThat(tree.counts().bytes()).isEqualTo(without + (long) Long.BYTES * IDS.length / 16);
    tree.checkInvariants();
  }

  @Test
  void blockHashesMakeRoomToo() {
    PrefixTree tree = new PrefixTree(100_000, LOOKAHEAD);
    List<PrefixNode> nodes = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      nodes.add(add(tree, null, alike(i)));
    }
    assertThat(tree.counts().evictions()).isZero();
    nodes.forEach(node -> node.blocks(run(1)));
    assertThat(tree.counts().bytes()).isLessThanOrEqualTo(100_000);
    assertThat(tree.counts().evictions()).isPositive();
    assertThat(tree.walk(alike(0))).isNull();
    assertThat(tree.walk(alike(4))).isSameAs(nodes.get(4));
    tree.checkInvariants();
  }

  private static PrefixNode add(PrefixTree tree, PrefixNode parent, String text) {
    int start = parent == null ? 0 : parent.end();
    return tree.add(parent, text, start + PrefixTree.PIECE_CHARS, IDS);
  }

  /** Of four pieces, and told apart by one character that no fingerprint looks at. */
  private static String alike(int text) {
    String rest = "a".repeat(4 * PrefixTree.PIECE_CHARS);
    return "a" + (char) ('b' + text) + rest;
  }

  private static BlockRun run(int blockSizeTokens) {
    ChainSpace space = new ChainSpace("m", blockSizeTokens, 0);
    BlockChain chain = BlockChain.of(space, IDS, PromptKeys.NONE);
    return chain.run(0, chain.blocks());
  }
}
