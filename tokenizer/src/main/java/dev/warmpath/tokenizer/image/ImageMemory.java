package dev.warmpath.tokenizer.image;

import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import dev.warmpath.kvindex.block.ImageForm;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of images by their content, so that an image that stands in each turn of a chat is
 * decoded and hashed once. What was asked for longest ago makes room.
 *
 * <p>Thread-safe.
 */
public final class ImageMemory {

  /** Two thousand images or so. */
  public static final long USUAL_BYTES = 1 << 20;

  /** What an entry takes besides its identifiers, about. */
  private static final int ENTRY_BYTES = 200;

  private static final int IDENTIFIER_BYTES = 160;
  private static final float LOAD_FACTOR = 0.75f;

  private final Hasher128 hasher;
  private final Map<LearnedImages.Key, Facts> facts = new LinkedHashMap<>(16, LOAD_FACTOR, true);
  private long maxBytes;
  private long bytes;
  private long evictions;

  /**
   * What is known of an image.
   *
   * @param header null if its headers are not understood
   */
  record Facts(@Nullable ImageHeader header, Map<ImageForm, String> identifiers) {
    long weight() {
      return ENTRY_BYTES + (long) IDENTIFIER_BYTES * identifiers.size();
    }
  }

  /**
   * What the memory takes.
   *
   * @param bytes in use, about
   * @param maxBytes that may be used
   * @param evictions images that made room
   */
  public record Counts(long bytes, long maxBytes, long evictions) {}

  /**
   * A memory of at most {@code maxBytes}.
   *
   * @param hashSeed a secret, so that nobody can make two images with the same key
   */
  public ImageMemory(long maxBytes, long hashSeed) {
    this.maxBytes = maxBytes;
    this.hasher = Hashing.xxh3_128(hashSeed);
  }

  /** What an image is known by, which hides its URL. */
  LearnedImages.Key key(String url, @Nullable String loraName) {
    byte[] bytes = DataUrl.isOne(url) ? latin(url) : url.getBytes(StandardCharsets.UTF_8);
    return new LearnedImages.Key(hasher.hashBytesTo128Bits(bytes), url.length(), loraName);
  }

  /** The image in a {@code data:} URL, with its identifiers in these forms at least. */
  Facts of(String url, List<ImageForm> forms) {
    return of(key(url, null), url, forms);
  }

  /** The same for an image that is known by this. */
  Facts of(LearnedImages.Key image, String url, List<ImageForm> forms) {
    LearnedImages.Key key = new LearnedImages.Key(image.hash(), image.chars(), null);
    Facts known = find(key);
    if (known != null && (known.header == null || known.identifiers.keySet().containsAll(forms))) {
      return known;
    }
    Facts found = read(url, forms, known);
    put(key, found);
    return found;
  }

  /** Other characters than these stand in no URL that is decoded. */
  private static byte[] latin(String url) {
    return url.getBytes(StandardCharsets.ISO_8859_1);
  }

  private Facts read(String url, List<ImageForm> forms, @Nullable Facts known) {
    byte[] file = DataUrl.bytes(url);
    ImageHeader header = file == null ? null : ImageHeader.read(file);
    if (file == null || header == null) {
      return new Facts(null, Map.of());
    }
    Map<ImageForm, String> identifiers =
        new HashMap<>(known == null ? Map.of() : known.identifiers);
    for (ImageForm form : forms) {
      identifiers.computeIfAbsent(
          form, missing -> ImageHasher.identifier(missing, file, header.rgb()));
    }
    return new Facts(header, Map.copyOf(identifiers));
  }

  private synchronized @Nullable Facts find(LearnedImages.Key key) {
    return facts.get(key);
  }

  private synchronized void put(LearnedImages.Key key, Facts found) {
    if (found.weight() > maxBytes) {
      return;
    }
    Facts before = facts.put(key, found);
    bytes += found.weight() - (before == null ? 0 : before.weight());
    makeRoom();
  }

  private void makeRoom() {
    Iterator<Facts> oldest = facts.values().iterator();
    while (bytes > maxBytes) {
      bytes -= oldest.next().weight();
      oldest.remove();
      evictions++;
    }
  }

  /** Remembers at most {@code maxBytes} from now on. */
  public synchronized void resize(long maxBytes) {
    this.maxBytes = maxBytes;
    makeRoom();
  }

  /** What is remembered now, and what made room. */
  public synchronized Counts counts() {
    return new Counts(bytes, maxBytes, evictions);
  }
}
