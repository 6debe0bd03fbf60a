package dev.warmpath.router.console.prefix;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which prefixes of prompts engines reused, and finds those that saved most tokens. The
 * rarest go first when there is no room, and what was not reused for an hour goes too.
 *
 * <p>Thread-safe: one walk along a prompt at a time.
 */
public final class HotPrefixes {

  /*
   * A radix tree of what was reused, by local hashes: a node for each length at which reuse ended or
   * prompts parted. A node counts the requests that reused all of it, so it saved requests × depth.
   * Nested prefixes would count the same tokens again and again: each turn of a conversation is a
   * node. So the list is made greedily: the prefix that saved most, then the one that saved most
   * beside it, and so on. What a node saves beside those chosen before is
   *   (depth − depth of the nearest chosen node above it) × (requests − those of chosen nodes below)
   * so each token of each request counts once.
   */

  /** A prefix may have so many nodes, all together. */
  public static final int MOST_NODES = 1_000;

  /** Blocks of all nodes: 4 MiB of hashes. */
  private static final int MOST_BLOCKS = 1 << 19;

  /** Requests for models with longer names are left out. */
  private static final int LONGEST_NAME = 256;

  /** Room is made for some at a time. */
  private static final double KEPT_SHARE = 0.9;

  private static final long HOUR_NANOS = 3_600_000_000_000L;

  /** Local hashes say nothing of the space, so engines whose space is not known yet count too. */
  private record Root(@Nullable String model, int blockSizeTokens, int lookaheadTokens) {

    ChainSpace space() {
      return new ChainSpace(
          Objects.requireNonNullElse(model, ""), blockSizeTokens, lookaheadTokens);
    }
  }

  private final LongSupplier nanoClock;
  private final Map<Root, PrefixNode> roots = new HashMap<>();
  private long lastId;
  private int nodes;
  private long blocks;

  public HotPrefixes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** How many nodes there are. */
  public synchronized int nodes() {
    return nodes;
  }

  /**
   * An engine reused the first {@code reused} blocks of a prompt.
   *
   * @param model as the request named it, or null
   * @param tokenIds of the prompt, to be shown; null if they are not to be kept
   */
  public synchronized void add(
      @Nullable String model, BlockChain chain, int reused, int @Nullable [] tokenIds) {
    int end = Math.min(reused, chain.blocks());
    boolean isOdd = model != null && model.length() > LONGEST_NAME;
    if (end <= 0 || end > MOST_BLOCKS / 2 || isOdd) {
      return;
    }
    long now = nanoClock.getAsLong();
    int size = chain.space().blockSizeTokens();
    PrefixNode at =
        roots.computeIfAbsent(
            new Root(model, size, chain.space().lookaheadTokens()), root -> PrefixNode.root());
    for (int done = 0; done < end; ) {
      PrefixNode next = at.next(chain, done);
      int shared = next == null ? 0 : next.shared(chain, done, end);
      if (next == null) {
        next = added(at.add(++lastId, chain, done, end));
        shared = end - done;
        blocks += shared;
      } else if (shared < next.blocks()) {
        next = added(next.split(++lastId, shared));
      }
      done += shared;
      next.used(now, tokenIds, done * size);
      at = next;
    }
    if (nodes > MOST_NODES || blocks > MOST_BLOCKS) {
      makeRoom();
    }
  }

  private PrefixNode added(PrefixNode node) {
    nodes++;
    return node;
  }

  private void makeRoom() {
    long now = nanoClock.getAsLong();
    while (nodes > KEPT_SHARE * MOST_NODES || blocks > KEPT_SHARE * MOST_BLOCKS) {
      List<PrefixNode> leaves = leaves();
      leaves.sort(
          Comparator.comparingLong(PrefixNode::requests)
              .thenComparingLong(leaf -> leaf.usedNanos() - now));
      leaves.subList(0, Math.max(1, leaves.size() / 8)).forEach(this::remove);
    }
  }

  /** Forgets what was not reused for an hour. */
  public synchronized void expire() {
    long now = nanoClock.getAsLong();
    boolean found = true;
    while (found) {
      found = false;
      for (PrefixNode leaf : leaves()) {
        if (now - leaf.usedNanos() > HOUR_NANOS) {
          remove(leaf);
          found = true;
        }
      }
    }
  }

  private void remove(PrefixNode leaf) {
    leaf.remove();
    nodes--;
    blocks -= leaf.blocks();
    roots.values().removeIf(PrefixNode::isLeaf);
  }

  private List<PrefixNode> leaves() {
    List<PrefixNode> leaves = new ArrayList<>(all());
    leaves.removeIf(node -> !node.isLeaf());
    return leaves;
  }

  /** Every node but the roots, parents first. */
  private List<PrefixNode> all() {
    List<PrefixNode> all = new ArrayList<>();
    roots.values().forEach(root -> all.addAll(root.children()));
    for (int i = 0; i < all.size(); i++) {
      all.addAll(all.get(i).children());
    }
    return all;
  }

  /** The {@code most} prefixes that saved most tokens, each beside those before it. */
  public synchronized List<HotPrefix> hottest(int most) {
    List<HotPrefix> found = new ArrayList<>();
    roots.forEach((root, tree) -> found.addAll(hottest(root, tree, most)));
    found.sort(Comparator.comparingLong(HotPrefix::tokensSaved).reversed());
    return found.subList(0, Math.min(most, found.size()));
  }

  private static List<HotPrefix> hottest(Root root, PrefixNode tree, int most) {
    List<Gain> gains = new ArrayList<>();
    tree.children().forEach(child -> Gain.collect(null, child, gains));
    List<HotPrefix> found = new ArrayList<>();
    while (found.size() < most) {
      Gain best = null;
      for (Gain gain : gains) {
        best = best == null || gain.blocks() > best.blocks() ? gain : best;
      }
      if (best == null || best.blocks() == 0) {
        break;
      }
      found.add(shown(root, best));
      best.choose();
    }
    return found;
  }

  private static HotPrefix shown(Root root, Gain gain) {
    PrefixNode node = gain.node;
    ChainSpace space = root.space();
    int length = gain.depth * space.blockSizeTokens() + space.lookaheadTokens() + 1;
    return new HotPrefix(
        node.id(),
        root.model(),
        BlockChain.ofLocalHashes(space, length, node.path()),
        node.requests(),
        gain.blocks() * space.blockSizeTokens(),
        node.ends());
  }

  /** What a node saves beside those that were chosen. */
  private static final class Gain {
    private final @Nullable Gain above;
    private final PrefixNode node;
    private final int depth;
    private final List<Gain> below = new ArrayList<>();
    private int coveredDepth;
    private long coveredRequests;

    private Gain(@Nullable Gain above, PrefixNode node) {
      this.above = above;
      this.node = node;
      this.depth = (above == null ? 0 : above.depth) + node.blocks();
    }

    static Gain collect(@Nullable Gain above, PrefixNode node, List<Gain> into) {
      Gain gain = new Gain(above, node);
      into.add(gain);
      node.children().forEach(child -> gain.below.add(collect(gain, child, into)));
      return gain;
    }

    long blocks() {
      return (depth - coveredDepth) * (node.requests() - coveredRequests);
    }

    void choose() {
      long covered = node.requests() - coveredRequests;
      for (Gain each = above; each != null && each.depth > coveredDepth; each = each.above) {
        each.coveredRequests += covered;
      }
      coveredRequests = node.requests();
      below.forEach(each -> each.cover(depth));
    }

    /** What is above it was chosen. */
    private void cover(int depthAbove) {
      if (coveredDepth < depthAbove) {
        coveredDepth = depthAbove;
        below.forEach(each -> each.cover(depthAbove));
      }
    }
  }
}
