package dev.warmpath.tokenizer.encode;

import dev.warmpath.tokenizer.encode.EncodeCounts.LayerCounts;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The beginnings of texts, in pieces that are compared as text: a text that begins like an earlier
 * one takes over its tokens up to the last piece that they share.
 *
 * <p>Thread-safe.
 */
final class PrefixTree {

  /*
   * A piece is kept with the characters behind it that decide that it ends there. Where a text has
   * the same piece and the same characters behind, it is cut at the same place and has the same
   * tokens before it, whatever follows. No hash is believed: a fingerprint of some characters finds
   * the candidates, and the characters decide.
   *
   * Order of use: a doubly linked list from the least to the most recently used node, under one lock. A walk
   * touches its nodes from the last to the first, so no node is ever used less recently than its children, and
   * the least recently used node has none.
   *
   * Invariants, under the lock:
   *   I1  The order holds exactly the nodes that can be found.
   *   I2  The parent of a node in the order is in the order, behind the node, which is among
   *       its children.
   *   I3  bytes is the sum of what these nodes are charged, and at most maxBytes.
   *
   * What is dropped goes with all that is behind it, which nothing would find any more. An encode in
   * flight may hold such nodes: it reads them, and what it adds to them is not kept.
   */

  /** A piece has at least so many characters. */
  public static final int PIECE_CHARS = 8192;

  private static final int SAMPLE_EVERY = 32;
  private static final int MOST_ALIKE = 32;
  private static final PrefixNode[] NONE = {};

  private record Place(@Nullable PrefixNode parent, long fingerprint) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Place place
          && place.parent == parent
          && place.fingerprint == fingerprint;
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(parent) + Long.hashCode(fingerprint);
    }
  }

  private final ConcurrentHashMap<Place, PrefixNode[]> nodes = new ConcurrentHashMap<>();
  private volatile long maxBytes;
  private final int lookaheadChars;
  private final LongAdder evictions = new LongAdder();
  private final Object lock = new Object();
  private @Nullable PrefixNode leastRecent;
  private @Nullable PrefixNode mostRecent;
  private long uses;
  private final AtomicLong bytes = new AtomicLong();

  /**
   * A tree of at most {@code maxBytes}.
   *
   * @param lookaheadChars how many characters behind a place decide whether it is a cut
   */
  public PrefixTree(long maxBytes, int lookaheadChars) {
    this.maxBytes = maxBytes;
    this.lookaheadChars = lookaheadChars;
  }

  /** The last node of the pieces that {@code text} begins with; null if there is none. */
  public @Nullable PrefixNode walk(String text) {
    PrefixNode last = null;
    PrefixNode next = child(null, text, 0);
    while (next != null) {
      last = next;
      next = child(last, text, last.end());
    }
    if (last != null) {
      touch(last);
    }
    return last;
  }

  /** Whether a piece of {@code text} may end at {@code end}, having begun at {@code start}. */
  public boolean fits(String text, int start, int end) {
    return maxBytes > 0 && end - start >= PIECE_CHARS && text.length() - end >= lookaheadChars;
  }

  /**
   * Remembers the next piece of {@code text}, up to {@code end}, which {@link #fits}.
   *
   * @param tokenIds its tokens, which nobody may change any more
   */
  public PrefixNode add(@Nullable PrefixNode parent, String text, int end, int[] tokenIds) {
    int start = parent == null ? 0 : parent.end();
    PrefixNode known = child(parent, text, start);
    if (known != null && known.end() == end) {
      return known;
    }
    String piece = text.substring(start, end + lookaheadChars);
    PrefixNode node = new PrefixNode(this, parent, fingerprint(text, start), piece, end, tokenIds);
    synchronized (lock) {
      if (parent == null || isLinked(parent)) {
        link(node);
      }
    }
    return node;
  }

  /** Holds at most {@code maxBytes} from now on. */
  public void resize(long maxBytes) {
    synchronized (lock) {
      this.maxBytes = maxBytes;
      makeRoom();
    }
  }

  /** What is remembered now, and what made room. */
  public LayerCounts counts() {
    return new LayerCounts(bytes.get(), maxBytes, evictions.sum());
  }

  private @Nullable PrefixNode child(@Nullable PrefixNode parent, String text, int start) {
    if (text.length() - start < PIECE_CHARS + lookaheadChars) {
      return null;
    }
    PrefixNode[] alike = nodes.get(new Place(parent, fingerprint(text, start)));
    if (alike == null) {
      return null;
    }
    for (PrefixNode node : alike) {
      int to = start + node.piece().length();
      // Comparing a copy is several times faster than comparing in place.
      if (to <= text.length() && text.substring(start, to).equals(node.piece())) {
        return node;
      }
    }
    return null;
  }

  private static long fingerprint(String text, int start) {
    long hash = 0;
    for (int i = start; i < start + PIECE_CHARS; i += SAMPLE_EVERY) {
      hash = hash * 0x9e3779b97f4a7c15L + text.charAt(i);
    }
    return hash;
  }

  private void touch(PrefixNode leaf) {
    synchronized (lock) {
      if (isLinked(leaf)) {
        markUsed(leaf);
      }
    }
  }

  private void link(PrefixNode node) {
    Place place = new Place(node.parent(), node.fingerprint);
    PrefixNode[] alike = nodes.getOrDefault(place, NONE);
    if (alike.length == MOST_ALIKE) {
      drop(Collections.min(Arrays.asList(alike), Comparator.comparingLong(old -> old.lastUse)));
    }
    nodes.merge(place, new PrefixNode[] {node}, PrefixTree::inFront);
    if (node.parent() != null) {
      node.parent().children.add(node);
    }
    markUsed(node);
    charge(node);
    makeRoom();
  }

  /** What a node takes is not what it was. */
  void weighAgain(PrefixNode node) {
    synchronized (lock) {
      if (isLinked(node)) {
        charge(node);
        makeRoom();
      }
    }
  }

  private void charge(PrefixNode node) {
    long now = node.bytes();
    bytes.addAndGet(now - node.chargedBytes);
    node.chargedBytes = now;
  }

  private static PrefixNode[] inFront(PrefixNode[] old, PrefixNode[] one) {
    PrefixNode[] more = new PrefixNode[old.length + 1];
    more[0] = one[0];
    System.arraycopy(old, 0, more, 1, old.length);
    return more;
  }

  /** Makes a node and all before it the most recently used, the first of them the very last. */
  private void markUsed(PrefixNode leaf) {
    uses++;
    for (PrefixNode node = leaf; node != null; node = node.parent()) {
      if (isLinked(node)) {
        unlinkFromOrder(node);
      }
      makeMostRecent(node);
      node.lastUse = uses;
    }
  }

  private void makeRoom() {
    while (bytes.get() > maxBytes && leastRecent != null) {
      drop(leastRecent);
    }
  }

  /** Drops a node and all behind it, the last ones first. */
  private void drop(PrefixNode first) {
    PrefixNode node = first;
    while (node != null) {
      if (node.children.isEmpty()) {
        dropLast(node);
        node = node == first ? null : node.parent();
      } else {
        node = node.children.iterator().next();
      }
    }
  }

  private void dropLast(PrefixNode gone) {
    unlinkFromOrder(gone);
    nodes.computeIfPresent(
        new Place(gone.parent(), gone.fingerprint), (place, alike) -> without(alike, gone));
    if (gone.parent() != null) {
      gone.parent().children.remove(gone);
    }
    bytes.addAndGet(-gone.chargedBytes);
    evictions.increment();
  }

  private static PrefixNode @Nullable [] without(PrefixNode[] alike, PrefixNode gone) {
    PrefixNode[] left =
        Arrays.stream(alike).filter(node -> node != gone).toArray(PrefixNode[]::new);
    return left.length == 0 ? null : left;
  }

  /** Throws if an invariant does not hold. */
  void checkInvariants() {
    synchronized (lock) {
      Set<PrefixNode> ordered = Collections.newSetFromMap(new IdentityHashMap<>());
      long sum = 0;
      PrefixNode last = null;
      for (PrefixNode node = leastRecent; node != null; node = node.next) {
        require(ordered.add(node) && node.previous == last, "I1", node);
        require(last == null || last.lastUse <= node.lastUse, "I1", node);
        PrefixNode parent = node.parent();
        require(parent == null || (isLinked(parent) && !ordered.contains(parent)), "I2", node);
        require(parent == null || parent.children.contains(node), "I2", node);
        sum += node.chargedBytes;
        last = node;
      }
      require(mostRecent == last, "I1", last);
      List<PrefixNode> found = nodes.values().stream().flatMap(Arrays::stream).toList();
      found.forEach(node -> require(ordered.contains(node), "I1", node));
      require(found.size() == ordered.size(), "I1", null);
      require(bytes.get() == sum && sum <= maxBytes, "I3", null);
    }
  }

  private void require(boolean holds, String invariant, @Nullable PrefixNode node) {
    if (!holds) {
      throw new IllegalStateException(
          "%s, nodeEnd=%s, bytes=%d"
              .formatted(invariant, node == null ? "none" : node.end(), bytes.get()));
    }
  }

  private boolean isLinked(PrefixNode node) {
    return node == leastRecent || node.previous != null;
  }

  private void makeMostRecent(PrefixNode node) {
    node.previous = mostRecent;
    if (mostRecent == null) {
      leastRecent = node;
    } else {
      mostRecent.next = node;
    }
    mostRecent = node;
  }

  private void unlinkFromOrder(PrefixNode node) {
    PrefixNode previous = node.previous;
    PrefixNode next = node.next;
    if (previous == null) {
      leastRecent = next;
    } else {
      previous.next = next;
    }
    if (next == null) {
      mostRecent = previous;
    } else {
      next.previous = previous;
    }
    node.previous = null;
    node.next = null;
  }
}
