package dev.warmpath.eventingest.wire;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.ArrayList;
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

  /** The first ids of a store at the root, if one of its first block does not fit an int. */
  long @Nullable [] wideIds;

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

  /**
   * A copy of a store's tokens: of all its blocks in order, then the last one's lookahead. Negative
   * for an id that does not fit an int, see {@link #narrow}.
   */
  public int[] tokenIds() {
    return Arrays.copyOfRange(columns.tokens(), tokenFrom, tokenFrom + tokenCount);
  }

  /**
   * What an id of a token is in all columns: those that are not in 0..2^31−1 are made negative, of
   * 31 bits of their hash.
   */
  public static int narrow(long id) {
    if (id >= 0 && id <= Integer.MAX_VALUE) {
      return (int) id;
    }
    long mixed = (id ^ (id >>> 33)) * 0xff51afd7ed558ccdL; // the end of MurmurHash3
    mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return (int) (mixed ^ (mixed >>> 33)) | Integer.MIN_VALUE;
  }

  /**
   * The ids of the first block of a dense store at the root as the engine has them, with that of
   * the lookahead token of pairs.
   */
  public long[] firstBlockIds() {
    int length = blockSizeTokens + lookaheadTokens;
    long[] wide = wideIds;
    return wide == null
        ? Arrays.stream(columns.tokens(), tokenFrom, tokenFrom + length).asLongStream().toArray()
        : Arrays.copyOf(wide, length);
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

  /**
   * What a store says about its blocks' identity besides tokens.
   *
   * <p>vLLM lists extra keys per block (since 0.19) and repeats the adapter's name among them;
   * SGLang and older vLLM give one adapter name and one salt for the whole event. {@link #of} makes
   * one form of both.
   *
   * @param loraName the adapter that computed the blocks, or null
   * @param cacheSalt SGLang's salt of the whole chain, or null
   * @param perBlock one list for each hash as the event gave them, or empty when it gave none
   * @param naming {@code DENSE}, unless the keys by themselves forbid to name the blocks
   */
  public record BlockKeys(
      @Nullable String loraName,
      @Nullable String cacheSalt,
      List<List<ExtraKey>> perBlock,
      Naming naming) {

    /** No extra keys at all. */
    public static final BlockKeys NONE = new BlockKeys(null, null, List.of(), Naming.DENSE);

    /**
     * The extra keys of one block, in the order of {@link dev.warmpath.kvindex.block.PromptKeys}.
     *
     * @param block its index in the event
     * @param first whether it is the first block of a chain, which alone carries a salt
     */
    public List<ExtraKey> of(int block, boolean first) {
      List<ExtraKey> given = perBlock.isEmpty() ? List.of() : perBlock.get(block);
      if (loraName == null && cacheSalt == null) {
        return given;
      }
      List<ExtraKey> keys = new ArrayList<>(given.size() + 2);
      if (loraName != null && !startsWithLora(given)) {
        keys.add(new ExtraKey.Lora(loraName));
      }
      keys.addAll(given);
      if (cacheSalt != null && first) {
        keys.add(new ExtraKey.CacheSalt(cacheSalt));
      }
      return keys;
    }

    private static boolean startsWithLora(List<ExtraKey> keys) {
      return !keys.isEmpty() && keys.get(0) instanceof ExtraKey.Lora;
    }
  }

  /**
   * How a KV-cache group keeps blocks.
   *
   * @param kind vLLM's {@code kv_cache_spec_kind}, or null when the engine does not say
   * @param slidingWindowTokens its window, 0 for none
   */
  public record GroupSpec(@Nullable String kind, int slidingWindowTokens) {

    /** An engine that names no groups: it has one, of full attention. */
    public static final GroupSpec UNSAID = new GroupSpec(null, 0);

    public GroupSpec {
      if (slidingWindowTokens < 0) {
        throw new IllegalArgumentException("slidingWindowTokens=" + slidingWindowTokens);
      }
    }

    /** The rule by which the group agrees to a hit. */
    public CacheGroup.Kind rule() {
      if (kind == null) {
        return CacheGroup.Kind.FULL_ATTENTION;
      }
      return switch (kind) {
        case "full_attention", "mla_attention", "sink_full_attention" ->
            CacheGroup.Kind.FULL_ATTENTION;
        case "sliding_window", "sliding_window_mla" ->
            slidingWindowTokens > 0 ? CacheGroup.Kind.SLIDING_WINDOW : CacheGroup.Kind.UNKNOWN;
        case "mamba" -> CacheGroup.Kind.MAMBA;
        default -> CacheGroup.Kind.UNKNOWN;
      };
    }
  }
}
