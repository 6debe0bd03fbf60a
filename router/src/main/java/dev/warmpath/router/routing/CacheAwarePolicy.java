package dev.warmpath.router.routing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The candidate that got the longest part of the prompt before, as long as load is even. It needs
 * no events: it remembers what it routed.
 *
 * <ul>
 *   <li>{@code max r − min r > balance-abs-threshold} and {@code max r > balance-rel-threshold·min
 *       r}: the fewest requests in flight;
 *   <li>else, if the longest match is more than {@code cache-threshold} of the prompt: the longest
 *       match, of equal ones the fewest requests in flight;
 *   <li>else the candidate of which the fewest blocks are remembered.
 * </ul>
 *
 * A prompt whose tokens are not known goes where the fewest are in flight.
 *
 * <p>Source: SGLang's router, {@code cache_aware} with its defaults 64, 1.5 and 0.3. SGLang matches
 * characters of text, this policy whole blocks of tokens. The tree has at most {@value #TREE_BYTES}
 * bytes, for all engines together; the prefixes routed longest ago go first.
 *
 * <p>Not where engines tell events: it knows nothing of what they evict, of restarts, or of what
 * other routers send. A long prefix that all share keeps all requests on one engine up to the
 * thresholds.
 *
 * <p>Thread-safe.
 */
final class CacheAwarePolicy implements RankingPolicy {

  static final long TREE_BYTES = 64L << 20;

  private final Thresholds thresholds;
  private final RoutedPrefixes routed = new RoutedPrefixes(TREE_BYTES);

  /**
   * The three thresholds, each from 0.
   *
   * @param cache share of the prompt
   * @param balanceAbs requests in flight
   * @param balanceRel factor between the most and the fewest requests in flight
   */
  public record Thresholds(double cache, double balanceAbs, double balanceRel) {

    /** As SGLang has them. */
    public static final Thresholds DEFAULT = new Thresholds(0.3, 64, 1.5);

    public Thresholds {
      Options.require("cache-threshold", cache, 0, 1);
      Options.require("balance-abs-threshold", balanceAbs);
      Options.require("balance-rel-threshold", balanceRel);
    }
  }

  public CacheAwarePolicy(Thresholds thresholds) {
    this.thresholds = thresholds;
  }

  @Override
  public String name() {
    return "cache-aware";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    InFlight inFlight = InFlight.of(candidates);
    boolean uneven =
        inFlight.range() > thresholds.balanceAbs
            && inFlight.most() > thresholds.balanceRel * inFlight.least();
    if (uneven || request.blocks().count() == 0) {
      return new FewestRequests(candidates);
    }
    int[] matched = routed.matchedBlocks(request.blocks(), candidates);
    int longest = 0;
    for (int blocks : matched) {
      longest = Math.max(longest, blocks);
    }
    return longest > thresholds.cache * request.lengthBlocks()
        ? new LongestMatch(candidates, matched)
        : new SmallestTree(candidates, routed);
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    routed.add(request.blocks(), candidates.number(winner));
    return NOTHING;
  }

  @Override
  public double memoryShare() {
    return (double) routed.bytes() / TREE_BYTES;
  }

  private static final class LongestMatch implements Ranking {
    private final Candidates candidates;
    private final int[] matched;

    LongestMatch(Candidates candidates, int[] matched) {
      this.candidates = candidates;
      this.matched = matched;
    }

    @Override
    public double cost(int row) {
      return -matched[row];
    }

    @Override
    public long tie(int row) {
      return candidates.requests(row);
    }

    @Override
    public Score score(int row) {
      return Score.of(Score.term("matched_blocks", cost(row)));
    }

    @Override
    public String reason(int winner) {
      return "cache";
    }
  }

  private record SmallestTree(Candidates candidates, RoutedPrefixes routed) implements Ranking {

    @Override
    public double cost(int row) {
      return routed.blocks(candidates.number(row));
    }

    @Override
    public Score score(int row) {
      return Score.of(Score.term("remembered_blocks", cost(row)));
    }

    @Override
    public String reason(int winner) {
      return "cold";
    }
  }

  /**
   * A radix tree of the prompts that were routed, with the engines that got them: what these may
   * have cached, as far as can be guessed without their events.
   *
   * <p>It has at most so many bytes: the prefixes that were routed longest ago go first, for all
   * engines together.
   *
   * <p>Thread-safe: a walk along one prompt holds the tree's lock.
   */
  static final class RoutedPrefixes {

    /*
     * A node is a run of blocks that always came together. A block key names all blocks before it, so
     *  - a node is found by the key of its first block alone, and knows neither parent nor children;
     *  - how far a prompt runs along a node is a binary search.
     * Where prompts part the node is split, and its end becomes a node of its own.
     *
     * The map's order is that of use. A prompt's nodes are moved to the end from the last one to the
     * first, so a node is always younger than those behind it, and the eldest has none behind it.
     */

    private static final int NODE_BYTES = 160;

    /** Blocks that always came together, and the engines that got them. */
    private static final class Node {
      private long[] keys;
      private int[] engines; // in ascending order

      Node(long[] keys, int[] engines) {
        this.keys = keys;
        this.engines = engines;
      }

      boolean has(int engine) {
        return Arrays.binarySearch(engines, engine) >= 0;
      }

      void add(int engine) {
        int place = -Arrays.binarySearch(engines, engine) - 1;
        int[] more = Arrays.copyOf(engines, engines.length + 1);
        System.arraycopy(engines, place, more, place + 1, engines.length - place);
        more[place] = engine;
        engines = more;
      }

      long bytes() {
        return NODE_BYTES + (long) keys.length * Long.BYTES + (long) engines.length * Integer.BYTES;
      }

      /** How many of its blocks the prompt has from block {@code from} on; at least the first. */
      int shared(PromptBlocks prompt, int from) {
        int shared = 1;
        int differ = Math.min(keys.length, prompt.count() - from);
        while (shared < differ) {
          int middle = (shared + differ) >>> 1;
          if (keys[middle] == prompt.key(from + middle)) {
            shared = middle + 1;
          } else {
            differ = middle;
          }
        }
        return shared;
      }
    }

    private final long mostBytes;
    private final Map<Long, Node> nodes = new LinkedHashMap<>();
    private final Map<Integer, Long> blocksOf = new HashMap<>();
    private long bytes;

    RoutedPrefixes(long mostBytes) {
      this.mostBytes = mostBytes;
    }

    /** Leading blocks of the prompt that each candidate got before, by row. */
    synchronized int[] matchedBlocks(PromptBlocks prompt, Candidates candidates) {
      int[] matched = new int[candidates.count()];
      int depth = 0;
      Node node = depth < prompt.count() ? nodes.get(prompt.key(depth)) : null;
      while (node != null) {
        int end = depth + node.shared(prompt, depth);
        boolean any = false;
        for (int row = 0; row < matched.length; row++) {
          if (matched[row] == depth && node.has(candidates.number(row))) {
            matched[row] = end;
            any = true;
          }
        }
        boolean whole = end - depth == node.keys.length;
        depth = end;
        node = any && whole && depth < prompt.count() ? nodes.get(prompt.key(depth)) : null;
      }
      return matched;
    }

    /** Blocks that the engine got and that are still remembered, shared ones once. */
    synchronized long blocks(int engine) {
      return blocksOf.getOrDefault(engine, 0L);
    }

    /** The engine got this prompt. */
    synchronized void add(PromptBlocks prompt, int engine) {
      if ((long) prompt.count() * Long.BYTES > mostBytes) {
        return; // alone it would drive out all others
      }
      List<Node> path = new ArrayList<>();
      int depth = 0;
      while (depth < prompt.count()) {
        Node node = node(prompt, depth);
        hold(node, engine);
        path.add(node);
        depth += node.keys.length;
      }
      for (int i = path.size() - 1; i >= 0; i--) {
        Node node = path.get(i);
        nodes.remove(node.keys[0]);
        nodes.put(node.keys[0], node);
      }
      shrink();
    }

    /** The node that begins with this block and has no others than the prompt's. */
    private Node node(PromptBlocks prompt, int from) {
      Node node = nodes.get(prompt.key(from));
      if (node == null) {
        long[] keys = new long[prompt.count() - from];
        for (int i = 0; i < keys.length; i++) {
          keys[i] = prompt.key(from + i);
        }
        node = new Node(keys, new int[0]);
        put(node);
      } else {
        split(node, node.shared(prompt, from));
      }
      return node;
    }

    private void split(Node node, int at) {
      if (at < node.keys.length) {
        bytes -= node.bytes();
        Node end = new Node(Arrays.copyOfRange(node.keys, at, node.keys.length), node.engines);
        node.keys = Arrays.copyOf(node.keys, at);
        bytes += node.bytes();
        put(end);
      }
    }

    private void put(Node node) {
      nodes.put(node.keys[0], node);
      bytes += node.bytes();
    }

    private void hold(Node node, int engine) {
      if (!node.has(engine)) {
        node.add(engine);
        bytes += Integer.BYTES;
        blocksOf.merge(engine, (long) node.keys.length, Long::sum);
      }
    }

    private void shrink() {
      Iterator<Node> eldest = nodes.values().iterator();
      while (bytes > mostBytes) {
        Node node = eldest.next();
        eldest.remove();
        bytes -= node.bytes();
        for (int engine : node.engines) {
          blocksOf.computeIfPresent(
              engine,
              (gone, blocks) -> blocks == node.keys.length ? null : blocks - node.keys.length);
        }
      }
    }

    /** Bytes in use, by estimate. */
    synchronized long bytes() {
      return bytes;
    }
  }
}
