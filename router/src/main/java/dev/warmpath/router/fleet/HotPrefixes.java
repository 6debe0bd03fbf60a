package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptTokens;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which prefixes of prompts engines reused, and finds those that saved most tokens, and
 * those that an engine should hold which holds nothing. The rarest go first when there is no room,
 * and what was not reused for an hour goes too.
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
   *
   * A session that goes on keeps to its engine, so another one gains only by what sessions share. A
   * node is shared if prompts went on behind it in different ways. Reuse that ended at one is of a
   * request that had nothing else in common with earlier ones: these are its demand, with that of
   * shared nodes below. Holding a token of it saves one token for each of them, so of two nodes the
   * one with more demand is worth more for each token that has to be computed, and none is worth
   * more than that above it.
   *
   * Tokens are kept of shared nodes and those above them, and only if the engine's events named the
   * very blocks: that proves that they are the engine's own.
   */

  /** A prefix may have so many nodes, all together. */
  public static final int MOST_NODES = 1_000;

  /** Blocks of all nodes: 4 MiB of hashes. */
  private static final int MOST_BLOCKS = 1 << 19;

  /** Tokens whose ids are kept, of all nodes: 4 MiB. */
  static final int MOST_TOKEN_IDS = 1 << 20;

  /** Requests for models with longer names are left out. */
  private static final int LONGEST_NAME = 256;

  /** Room is made for some at a time. */
  private static final double KEPT_SHARE = 0.9;

  /** Token ids are not dropped for others more often. */
  private static final long ROOM_NANOS = 1_000_000_000L;

  private static final long HOUR_NANOS = 3_600_000_000_000L;

  /** Local hashes say nothing of the space, so engines whose space is not known yet count too. */
  private record Root(@Nullable String model, int blockSizeTokens, int lookaheadTokens) {

    ChainSpace space() {
      return new ChainSpace(
          Objects.requireNonNullElse(model, ""), blockSizeTokens, lookaheadTokens);
    }

    /** The first token that the first {@code blocks} blocks say nothing of. */
    int endToken(int blocks) {
      return blocks == 0 ? 0 : blocks * blockSizeTokens + lookaheadTokens;
    }

    /** How many blocks so many tokens tell of. */
    int blocks(int tokens) {
      return Math.max(0, tokens - lookaheadTokens) / blockSizeTokens;
    }

    /** The tokens that the blocks {@code [from, to)} tell of beyond those before them. */
    int tokens(int from, int to) {
      return endToken(to) - endToken(from);
    }
  }

  private final LongSupplier nanoClock;
  private final Map<Root, HotPrefixNode> roots = new HashMap<>();
  private boolean keepsEnds;
  private boolean keepsTokens;
  private long lastId;
  private int nodes;
  private long blocks;
  private int tokenIds;
  private long roomNanos = Long.MIN_VALUE;

  public HotPrefixes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** How many nodes there are. */
  public synchronized int nodes() {
    return nodes;
  }

  /** Taken share of the room for token ids, 0 to 1. */
  public synchronized double tokenShare() {
    return (double) tokenIds / MOST_TOKEN_IDS;
  }

  /** Whether the first and the last tokens of each prefix are kept, to be shown. */
  public synchronized void keepEnds(boolean keeps) {
    keepsEnds = keeps;
  }

  /**
   * Whether the tokens of shared prefixes are kept, to be computed elsewhere. Those that are kept
   * are forgotten if not.
   */
  public synchronized void keepTokens(boolean keeps) {
    keepsTokens = keeps;
    if (tokenIds > 0 && !keeps) {
      all().forEach(this::dropTokens);
    }
  }

  /**
   * An engine reused the first {@code reused} blocks of a prompt.
   *
   * @param model as the request named it, or null
   * @param tokens of the prompt; null if they are not known, or not to be kept
   * @param proven so many leading blocks the engine named in its events
   */
  public synchronized void add(
      @Nullable String model,
      BlockChain chain,
      int reused,
      @Nullable PromptTokens tokens,
      int proven) {
    int end = Math.min(reused, chain.blocks());
    boolean isOdd = model != null && model.length() > LONGEST_NAME;
    if (end <= 0 || end > MOST_BLOCKS / 2 || isOdd) {
      return;
    }
    long now = nanoClock.getAsLong();
    ChainSpace space = chain.space();
    Root root = new Root(model, space.blockSizeTokens(), space.lookaheadTokens());
    HotPrefixNode at = roots.computeIfAbsent(root, none -> HotPrefixNode.root());
    for (int done = 0; done < end; ) {
      HotPrefixNode next = at.next(chain, done);
      int shared = next == null ? 0 : next.shared(chain, done, end);
      if (next == null) {
        next = added(at.add(++lastId, chain, done, end));
        shared = end - done;
        blocks += shared;
      } else if (shared < next.blocks()) {
        next = added(next.split(++lastId, shared, root.tokens(done, done + shared)));
      }
      done += shared;
      long behind = done < chain.blocks() ? chain.localHash(done) : HotPrefixNode.NOTHING;
      next.countReuse(now, behind, done == end);
      if (keepsEnds && tokens != null) {
        next.keepEnds(tokens, done * root.blockSizeTokens);
      }
      at = next;
    }
    if (keepsTokens && tokens != null) {
      keepTokens(root, at, end, tokens, proven);
    }
    if (nodes > MOST_NODES || blocks > MOST_BLOCKS) {
      makeRoom();
    }
  }

  /** Keeps those of the deepest shared node up to this one, and of what is above it. */
  private void keepTokens(Root root, HotPrefixNode last, int end, PromptTokens tokens, int proven) {
    boolean isWanted = false;
    int to = end;
    for (HotPrefixNode at = last, above = at.parent(); above != null; above = at.parent()) {
      int from = to - at.blocks();
      isWanted |= at.isShared() && to <= proven;
      if (isWanted && at.tokenIds() == null) {
        int first = root.endToken(from);
        int count = root.tokens(from, to);
        if (tokenIds + count > MOST_TOKEN_IDS) {
          makeRoomForTokens();
        }
        if (tokenIds + count <= MOST_TOKEN_IDS) {
          at.keepTokens(tokens.range(first, first + count));
          tokenIds += count;
        }
      }
      to = from;
      at = above;
    }
  }

  /** Drops the tokens of what is wanted least. */
  private void makeRoomForTokens() {
    long now = nanoClock.getAsLong();
    if (roomNanos != Long.MIN_VALUE && now - roomNanos < ROOM_NANOS) {
      return;
    }
    roomNanos = now;
    List<HotPrefixNode> kept = all();
    kept.removeIf(node -> node.tokenIds() == null);
    Collections.reverse(kept); // of equal ones what is below goes first
    Map<HotPrefixNode, Double> demand = new HashMap<>();
    roots.values().forEach(root -> root.demand(now, Integer.MAX_VALUE, demand));
    kept.sort(Comparator.comparingDouble(node -> demand.getOrDefault(node, 0.0)));
    for (HotPrefixNode node : kept) {
      if (tokenIds <= KEPT_SHARE * MOST_TOKEN_IDS) {
        return;
      }
      dropTokens(node);
    }
  }

  private void dropTokens(HotPrefixNode node) {
    int[] ids = node.tokenIds();
    tokenIds -= ids == null ? 0 : ids.length;
    node.keepTokens(null);
  }

  private HotPrefixNode added(HotPrefixNode node) {
    nodes++;
    return node;
  }

  private void makeRoom() {
    long now = nanoClock.getAsLong();
    while (nodes > KEPT_SHARE * MOST_NODES || blocks > KEPT_SHARE * MOST_BLOCKS) {
      List<HotPrefixNode> leaves = leaves();
      leaves.sort(
          Comparator.comparingLong(HotPrefixNode::requests)
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
      for (HotPrefixNode leaf : leaves()) {
        if (now - leaf.usedNanos() > HOUR_NANOS) {
          remove(leaf);
          found = true;
        }
      }
    }
  }

  private void remove(HotPrefixNode leaf) {
    dropTokens(leaf);
    leaf.remove();
    nodes--;
    blocks -= leaf.blocks();
    roots.values().removeIf(HotPrefixNode::isLeaf);
  }

  private List<HotPrefixNode> leaves() {
    List<HotPrefixNode> leaves = new ArrayList<>(all());
    leaves.removeIf(node -> !node.isLeaf());
    return leaves;
  }

  /** Every node but the roots, parents first. */
  private List<HotPrefixNode> all() {
    List<HotPrefixNode> all = new ArrayList<>();
    roots.values().forEach(root -> all.addAll(root.children()));
    for (int i = 0; i < all.size(); i++) {
      all.addAll(all.get(i).children());
    }
    return all;
  }

  /**
   * What an engine should hold that holds nothing.
   *
   * @param prefixes from which prompts of different sessions went on, the most wanted first; none
   *     is the begin of another one
   * @param tooLong such prefixes that are left out as they are too long
   */
  public record Shared(List<SharedPrefix> prefixes, int tooLong) {

    /** Nothing. */
    public static final Shared NONE = new Shared(List.of(), 0);

    public Shared {
      prefixes = List.copyOf(prefixes);
    }
  }

  /**
   * What an engine should hold that holds nothing.
   *
   * @param longest tokens that a prefix of a model may have; negative: none of it counts; asked for
   *     names as requests gave them
   * @param mostTokens so long they are together at most, what they share counted once
   * @param onlyKnown whether those do not count of which the tokens are not kept
   */
  public synchronized Shared shared(
      ToIntFunction<@Nullable String> longest, long mostTokens, boolean onlyKnown) {
    long now = nanoClock.getAsLong();
    List<Wanted> wanted = new ArrayList<>();
    int tooLong = 0;
    for (Map.Entry<Root, HotPrefixNode> each : roots.entrySet()) {
      Root root = each.getKey();
      int most = longest.applyAsInt(root.model);
      if (most >= 0) {
        int mostBlocks = root.blocks(most);
        Map<HotPrefixNode, Double> demand = new HashMap<>();
        each.getValue().demand(now, mostBlocks, demand);
        for (HotPrefixNode child : each.getValue().children()) {
          tooLong += Wanted.collect(root, null, child, mostBlocks, onlyKnown, demand, wanted);
        }
      }
    }
    wanted.sort(Comparator.comparingDouble((Wanted each) -> each.demand).reversed());
    long tokens = 0;
    for (Wanted each : wanted) { // what is above comes first
      long more = (long) each.node.blocks() * each.root.blockSizeTokens;
      if ((each.above == null || each.above.isTaken) && tokens + more <= mostTokens) {
        each.isTaken = true;
        tokens += more;
        if (each.above != null) {
          each.above.goesOn = true;
        }
      }
    }
    List<SharedPrefix> found = new ArrayList<>();
    for (Wanted each : wanted) {
      if (each.isTaken && !each.goesOn) {
        found.add(each.found());
      }
    }
    return new Shared(found, tooLong);
  }

  /** The {@code most} prefixes that saved most tokens, each beside those before it. */
  public synchronized List<HotPrefix> hottest(int most) {
    List<HotPrefix> found = new ArrayList<>();
    roots.forEach((root, tree) -> found.addAll(hottest(root, tree, most)));
    found.sort(Comparator.comparingLong(HotPrefix::tokensSaved).reversed());
    return found.subList(0, Math.min(most, found.size()));
  }

  private static List<HotPrefix> hottest(Root root, HotPrefixNode tree, int most) {
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
    HotPrefixNode node = gain.node;
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

  /** A node that is shared, or above one that is. */
  private static final class Wanted {
    private final Root root;
    private final @Nullable Wanted above;
    private final HotPrefixNode node;
    private final double demand;
    private boolean isTaken;
    private boolean goesOn;
    private boolean isCounted;

    private Wanted(Root root, @Nullable Wanted above, HotPrefixNode node, double demand) {
      this.root = root;
      this.above = above;
      this.node = node;
      this.demand = demand;
    }

    /**
     * Collects it and those below.
     *
     * @param mostBlocks behind what is above it
     * @return those that are too long, and the begin of no other one
     */
    static int collect(
        Root root,
        @Nullable Wanted above,
        HotPrefixNode node,
        int mostBlocks,
        boolean onlyKnown,
        Map<HotPrefixNode, Double> demands,
        List<Wanted> into) {
      if (onlyKnown && node.tokenIds() == null) {
        return 0;
      }
      double demand = demands.getOrDefault(node, 0.0);
      int left = mostBlocks - node.blocks();
      Wanted last = above;
      if (left >= 0 && demand > 0) {
        last = new Wanted(root, above, node, demand);
        into.add(last);
      }
      int tooLong = 0;
      for (HotPrefixNode child : node.children()) {
        tooLong += collect(root, last, child, left, onlyKnown, demands, into);
      }
      return tooLong == 0 && left < 0 && demand > 0 ? 1 : tooLong;
    }

    private SharedPrefix found() {
      long[] path = node.path();
      int end = root.endToken(path.length);
      BlockChain chain = BlockChain.ofLocalHashes(root.space(), end + 1, path);
      return new SharedPrefix(root.model, chain, ids(end), newTokens(), demand);
    }

    private long newTokens() {
      long blocks = 0;
      for (Wanted at = this; at != null && !at.isCounted; at = at.above) {
        at.isCounted = true;
        blocks += at.node.blocks();
      }
      return blocks * root.blockSizeTokens;
    }

    private int @Nullable [] ids(int count) {
      int[] all = new int[count];
      int to = count;
      for (Wanted at = this; at != null; at = at.above) {
        int[] own = at.node.tokenIds();
        if (own == null) {
          return null;
        }
        to -= own.length;
        System.arraycopy(own, 0, all, to, own.length);
      }
      return all;
    }
  }

  /** What a node saves beside those that were chosen. */
  private static final class Gain {
    private final @Nullable Gain above;
    private final HotPrefixNode node;
    private final int depth;
    private final List<Gain> below = new ArrayList<>();
    private int coveredDepth;
    private long coveredRequests;

    private Gain(@Nullable Gain above, HotPrefixNode node) {
      this.above = above;
      this.node = node;
      this.depth = (above == null ? 0 : above.depth) + node.blocks();
    }

    static Gain collect(@Nullable Gain above, HotPrefixNode node, List<Gain> into) {
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
