package dev.warmpath.eventingest.wire;

import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One event of {@link EventColumns}: what it says by itself, and where its hashes and tokens lie.
 * Valid until the columns are filled anew.
 *
 * <p>Engine hashes are normalised to 64 bits: integers to their two's-complement pattern, raw
 * digests to their last 8 bytes, big-endian.
 *
 * <p>Confined to the thread of its columns.
 */
public final class EventRow {

  /** What happened. */
  public enum Kind {
    /** The engine holds these blocks now. */
    STORED,
    /** One copy of each of these blocks is gone. */
    REMOVED,
    /** Nothing is held any more, in no tier and no group. */
    CLEARED
  }

  /** Stands in {@link #owner} where the key of a page has its digest. */
  public static final String PAGE = "@page:";

  private final EventColumns columns;
  Kind kind = Kind.CLEARED;
  int hashFrom;
  int hashCount;
  boolean atRoot;
  long parent;
  int tokenFrom;

  /** Lookahead tokens included. */
  int tokenCount;

  int blockSizeTokens;
  int lookaheadTokens;
  Naming tokenNaming = Naming.DENSE;
  BlockKeys keys = BlockKeys.NONE;
  BlockPlace place = BlockPlace.GPU;
  @Nullable StorageTier tier = StorageTier.GPU;
  GroupSpec spec = GroupSpec.UNSAID;
  int windowTokens;
  @Nullable String owner;

  EventRow(EventColumns columns) {
    this.columns = columns;
  }

  public Kind kind() {
    return kind;
  }

  /**
   * Where its engine hashes begin in {@link EventColumns#hashes}; behind those of a store there is
   * room for as many local hashes.
   */
  public int hashFrom() {
    return hashFrom;
  }

  public int hashCount() {
    return hashCount;
  }

  /** Whether a store begins a prompt. */
  public boolean atRoot() {
    return atRoot;
  }

  /** The engine hash before a store's first block, unless it begins a prompt. */
  public long parent() {
    return parent;
  }

  /** How many tokens a store's blocks have, lookahead tokens not counted. */
  public int plainTokens() {
    return tokenCount - lookaheadTokens;
  }

  /** Whether a store has any tokens. */
  public boolean hasTokens() {
    return tokenCount > 0;
  }

  public int blockSizeTokens() {
    return blockSizeTokens;
  }

  public int lookaheadTokens() {
    return lookaheadTokens;
  }

  public BlockKeys keys() {
    return keys;
  }

  public BlockPlace place() {
    return place;
  }

  /** The tier of {@link #place}. */
  public @Nullable StorageTier tier() {
    return tier;
  }

  public GroupSpec spec() {
    return spec;
  }

  /** TensorRT-LLM's {@code window_size}, 0 when it is not said. */
  public int windowTokens() {
    return windowTokens;
  }

  /**
   * The key of a store's object, where that is all that tells the hash: what stands before the
   * hash, or all with {@value #PAGE} in its place.
   */
  public @Nullable String owner() {
    return owner;
  }

  /** Whether the blocks of a store can be named by {@link #nameBlocks}. */
  public Naming naming() {
    if (hashCount > 0 && plainTokens() == 0) {
      return Naming.TOKENLESS;
    }
    if (tokenNaming != Naming.DENSE) {
      return tokenNaming;
    }
    if ((long) hashCount * blockSizeTokens != plainTokens()) {
      return Naming.SPARSE;
    }
    return keys.naming();
  }

  /** Writes the local hashes of a store that is {@link Naming#DENSE} behind its engine hashes. */
  public void nameBlocks() {
    long[] hashes = columns.hashes();
    int[] tokens = columns.tokens();
    int length = blockSizeTokens + lookaheadTokens;
    for (int i = 0; i < hashCount; i++) {
      hashes[hashFrom + hashCount + i] =
          BlockHasher.localHash(tokens, tokenFrom + i * blockSizeTokens, length, extraKeys(i));
    }
  }

  /**
   * Into how many blocks of so many tokens each of its hashes can be cut, whose local hashes {@link
   * #plainHash} tells then; 0 if its tokens do not show that. LMCache adds the first token of the
   * next chunk to those of each.
   */
  public int blocksAHash(int blockTokens) {
    boolean isWhole =
        (long) hashCount * blockSizeTokens == tokenCount
            || (hashCount == 1 && blockSizeTokens + 1 == tokenCount);
    return isWhole
            && tokenCount > 0
            && lookaheadTokens == 0
            && tokenNaming == Naming.DENSE
            && blockSizeTokens % blockTokens == 0
        ? blockSizeTokens / blockTokens
        : 0;
  }

  /** The local hash of a block of so many tokens without extra keys, counted from its first. */
  public long plainHash(int block, int blockTokens) {
    int from = tokenFrom + block * blockTokens;
    return BlockHasher.localHash(columns.tokens(), from, blockTokens, List.of());
  }

  /** A copy of a store's tokens: of all its blocks in order, then the last one's lookahead. */
  public int[] tokenIds() {
    return Arrays.copyOfRange(columns.tokens(), tokenFrom, tokenFrom + tokenCount);
  }

  /** A copy of its engine hashes. */
  public long[] engineHashes() {
    return Arrays.copyOfRange(columns.hashes(), hashFrom, hashFrom + hashCount);
  }

  /** The extra keys of a block of a store that is {@link Naming#DENSE}. */
  public List<ExtraKey> extraKeys(int block) {
    return keys.of(block, block == 0 && atRoot);
  }

  /** Takes over all that another store says beside its hashes, its parent's hash and its tokens. */
  void saysAs(EventRow other) {
    atRoot = other.atRoot;
    tokenCount = other.tokenCount;
    blockSizeTokens = other.blockSizeTokens;
    lookaheadTokens = other.lookaheadTokens;
    tokenNaming = other.tokenNaming;
    keys = other.keys;
    place = other.place;
    tier = other.tier;
    spec = other.spec;
    windowTokens = other.windowTokens;
  }

  /** What it says beside its hashes and tokens, to be kept. */
  EventRow copy() {
    EventRow copy = new EventRow(columns);
    copy.saysAs(this);
    return copy;
  }
}
