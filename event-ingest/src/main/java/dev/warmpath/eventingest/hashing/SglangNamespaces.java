package dev.warmpath.eventingest.hashing;

import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Tells the name spaces of one SGLang engine apart, the one that a request's {@code extra_key}
 * opens included: no field of an event shows it, but the first page's hash may.
 *
 * <p>The first block of a chain whose hash is not what a request without {@code extra_key} gives is
 * named by that hash instead of its salt; a request that can compute the same hash finds it.
 *
 * @param format the format of the engine's events
 * @param adapterIds ids of the adapters by name; blocks of other adapters are taken as they come
 */
public record SglangNamespaces(EventFormat format, Map<String, String> adapterIds) {

  /** Nothing is known of adapters, and the format is the usual one. */
  public static final SglangNamespaces PLAIN = new SglangNamespaces(EventFormat.DEFAULT, Map.of());

  /** Begins names that are made of a hash; a request's own salt that does is none of them. */
  private static final String BY_HASH = "\0page:";

  private static final byte[] URL_NAMESPACE =
      HexFormat.of().parseHex("6ba7b8119dad11d180b400c04fd430c8");

  public SglangNamespaces {
    adapterIds = Map.copyOf(adapterIds);
  }

  /**
   * The name spaces of an engine that was started with these adapters.
   *
   * @param paths where each of them lies, as the engine was told, by name
   */
  public static SglangNamespaces of(EventFormat format, Map<String, String> paths) {
    Map<String, String> ids = new HashMap<>();
    paths.forEach((name, path) -> ids.put(name, adapterId(name, path)));
    return new SglangNamespaces(format, ids);
  }

  /** The adapters' names and ids, each NAME=ID, by name. */
  public List<String> adapters() {
    return new TreeMap<>(adapterIds)
        .entrySet().stream().map(entry -> entry.getKey() + "=" + entry.getValue()).toList();
  }

  /** The same in a line of text, different for different ones. */
  public String text() {
    return format + " " + adapters();
  }

  /** SGLang's id of an adapter that was named at start. */
  public static String adapterId(String name, String path) {
    try {
      MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
      sha1.update(URL_NAMESPACE);
      byte[] uuid = sha1.digest((name + "\0" + path).getBytes(StandardCharsets.UTF_8));
      ByteBuffer head = ByteBuffer.wrap(uuid);
      long high = (head.getLong() & ~0xf000L) | 0x5000L;
      long low = (head.getLong() & ~(3L << 62)) | (1L << 63);
      return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a JDK without SHA-1", e);
    }
  }

  /** The local hash of the first block of a dense store at the root. */
  public long rootLocalHash(EventRow store) {
    int[] ids = store.tokenIds();
    int length = store.blockSizeTokens() + store.lookaheadTokens();
    long hash = store.engineHashes()[0];
    String lora = store.keys().loraName();
    if (isPlain(hash, store)) {
      return BlockHasher.localHash(ids, 0, length, store.extraKeys(0));
    }
    return BlockHasher.localHash(ids, 0, length, hidden(lora, hash).of(0, length));
  }

  /** Whether hashes show the {@code extra_key} of a request for this adapter (null for none). */
  public boolean shows(@Nullable String loraName) {
    return loraName == null ? format == EventFormat.DYNAMO : adapterIds.containsKey(loraName);
  }

  /**
   * The keys under which a request with an {@code extra_key} finds its blocks, or null if the
   * engine's hashes do not show them.
   */
  public @Nullable PromptKeys keys(
      ChainSpace space, int[] promptIds, PromptKeys keys, String extraKey) {
    String lora = keys.loraName();
    String adapter = lora == null ? "" : adapterIds.get(lora);
    int size = space.blockSizeTokens();
    boolean pairs = space.lookaheadTokens() > 0;
    if (!shows(lora) || adapter == null || promptIds.length < size + space.lookaheadTokens()) {
      return null;
    }
    long[] ids = Arrays.stream(promptIds).asLongStream().toArray();
    long page = PageHasher.page(ids, size, pairs, keys.cacheSalt());
    String second = format == EventFormat.DYNAMO ? keys.cacheSalt() : null;
    return hidden(lora, PageHasher.inNamespace(page, extraKey + adapter, second));
  }

  private boolean isPlain(long hash, EventRow store) {
    String lora = store.keys().loraName();
    String salt = store.keys().cacheSalt();
    String adapter = lora == null ? null : adapterIds.get(lora);
    if (lora != null && adapter == null) {
      return true;
    }
    if (salt != null && salt.startsWith(BY_HASH)) {
      return false;
    }
    boolean pairs = store.lookaheadTokens() > 0;
    long page = PageHasher.page(store.firstBlockIds(), store.blockSizeTokens(), pairs, salt);
    if (adapter == null && salt == null) {
      return hash == page;
    }
    if (hash == PageHasher.inNamespace(page, adapter, salt)) {
      return true; // the other format's hash of a salt; it shows no less
    }
    return format == EventFormat.DEFAULT
        && hash == (adapter == null ? page : PageHasher.inNamespace(page, adapter, null));
  }

  private static PromptKeys hidden(@Nullable String lora, long firstPageHash) {
    return new PromptKeys(lora, BY_HASH + HexFormat.of().toHexDigits(firstPageHash));
  }

  /** The hash that SGLang gives to the first page of a prompt. */
  static final class PageHasher {

    private static final byte[] SALT_SEED =
        "sglang-cache-salt-v1\0".getBytes(StandardCharsets.US_ASCII);
    private static final byte WIDE = (byte) 0xff;
    private static final byte[] NAMESPACE_SEED =
        "sglang-kv-event-namespace-v1".getBytes(StandardCharsets.US_ASCII);

    private PageHasher() {}

    /**
     * The first page's hash before any name space. A page with an id of more than 32 bits is hashed
     * in 64 bits for each.
     *
     * @param tokenIds of the page
     * @param pageTokens tokens of the page
     * @param pairs whether the page consists of token pairs; the last one needs the token behind
     *     the page
     */
    static long page(long[] tokenIds, int pageTokens, boolean pairs, @Nullable String salt) {
      MessageDigest digest = sha256();
      if (salt != null) {
        MessageDigest prior = sha256();
        prior.update(SALT_SEED);
        digest.update(prior.digest(utf8(salt)));
      }
      int read = pairs ? pageTokens + 1 : pageTokens;
      boolean isWide = Arrays.stream(tokenIds, 0, read).anyMatch(id -> id >>> Integer.SIZE != 0);
      if (isWide) {
        digest.update(WIDE);
      }
      int width = isWide ? Long.BYTES : Integer.BYTES;
      ByteBuffer ids = ByteBuffer.allocate(pageTokens * width * (pairs ? 2 : 1));
      ids.order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < pageTokens; i++) {
        put(ids, tokenIds[i], isWide);
        if (pairs) {
          put(ids, tokenIds[i + 1], isWide);
        }
      }
      return first64(digest.digest(ids.array()));
    }

    private static void put(ByteBuffer ids, long id, boolean isWide) {
      if (isWide) {
        ids.putLong(id);
      } else {
        ids.putInt((int) id);
      }
    }

    /** The hash of a page with hash {@code page} in the name space of these two parts. */
    static long inNamespace(long page, @Nullable String first, @Nullable String second) {
      MessageDigest seed = sha256();
      seed.update(NAMESPACE_SEED);
      part(seed, first);
      part(seed, second);
      MessageDigest digest = sha256();
      digest.update(seed.digest());
      digest.update(ByteBuffer.allocate(Long.BYTES).putLong(page).array());
      return first64(digest.digest());
    }

    private static void part(MessageDigest digest, @Nullable String text) {
      if (text == null) {
        digest.update((byte) 0);
        return;
      }
      byte[] bytes = utf8(text);
      digest.update((byte) 1);
      digest.update(
          ByteBuffer.allocate(Long.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(bytes.length)
              .array());
      digest.update(bytes);
    }

    private static byte[] utf8(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private static long first64(byte[] digest) {
      return ByteBuffer.wrap(digest).getLong();
    }

    private static MessageDigest sha256() {
      try {
        return MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("a JDK without SHA-256", e);
      }
    }
  }
}
