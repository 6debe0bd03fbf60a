package dev.warmpath.router.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Parses request bodies. A body that begins like an earlier one takes over the messages that both
 * begin with, so that the next turn of a chat is parsed from its last messages on. The result is
 * what Jackson makes of the whole body, exactly, failures too.
 *
 * <p>Nodes of messages belong to many results: nobody may change them. The object and its list of
 * messages belong to the caller.
 *
 * <p>Thread-safe.
 */
public final class BodyParser {

  /** What the memory holds and has done so far. Immutable. */
  public record Counts(
      long bytes, long maxBytes, long parsedBytes, long knownBytes, long evictions) {}

  private static final TreeRoom UNBOUNDED = new TreeRoom(Long.MAX_VALUE);

  private final ObjectMapper json;
  private final KnownBodies bodies;
  private final LongAdder parsedBytes = new LongAdder();
  private final LongAdder knownBytes = new LongAdder();

  /**
   * A parser that remembers nothing yet.
   *
   * @param depthLimit deeper bodies fail
   * @param maxBytes how much may be remembered, about
   */
  public BodyParser(int depthLimit, long maxBytes) {
    StreamReadConstraints limits =
        StreamReadConstraints.builder()
            .maxNestingDepth(depthLimit)
            .maxStringLength(Integer.MAX_VALUE)
            .build();
    this.json = new ObjectMapper(JsonFactory.builder().streamReadConstraints(limits).build());
    this.bodies = new KnownBodies(maxBytes);
  }

  /** The same with all the memory that it takes. */
  public JsonNode parse(byte[] body) throws IOException {
    return parse(body, UNBOUNDED.share());
  }

  /** The same of a body whose models are known. */
  public JsonNode parse(byte[] body, TreeRoom.Share share) throws IOException {
    return parse(body, share, new NamedModels());
  }

  /**
   * The body's first value; a missing node if there is none.
   *
   * @param share pays for its nodes and for what is made of them
   * @param models gets all that an object names: of a field given twice the tree has but one
   * @throws TreeRoom.FullException if there is no room for them
   */
  public JsonNode parse(byte[] body, TreeRoom.Share share, NamedModels models) throws IOException {
    ObjectReader reader = share.reader(json, body);
    try {
      return bodies.takes(body) ? read(reader, body, models) : readAnew(reader, body, models);
    } catch (IOException e) {
      parsedBytes.add(body.length);
      JsonNode unused = reader.readTree(body); // fails as well, and in Jackson's own words
      throw e;
    }
  }

  private JsonNode readAnew(ObjectReader reader, byte[] body, NamedModels models)
      throws IOException {
    BodyReading reading = BodyReading.whole(reader, models, body, false);
    JsonNode result = reading == null ? reader.readTree(body) : reading.result();
    parsedBytes.add(body.length);
    return result;
  }

  private JsonNode read(ObjectReader reader, byte[] body, NamedModels models) throws IOException {
    long[] fingers = KnownBodies.fingers(body);
    KnownBody known = bodies.find(fingers);
    int shared = known == null ? 0 : known.shared(body);
    if (known == null || shared == 0) {
      BodyReading whole = BodyReading.whole(reader, models, body, true);
      parsedBytes.add(body.length);
      return remembered(fingers, body, Objects.requireNonNull(whole), null);
    }
    BodyReading reading = BodyReading.continued(reader, models, known, shared, body);
    knownBytes.add(known.start(shared));
    parsedBytes.add(body.length - known.start(shared));
    return remembered(fingers, body, reading, known.isContinuedFrom(shared) ? known : null);
  }

  private JsonNode remembered(
      long[] fingers, byte[] body, BodyReading reading, @Nullable KnownBody needless) {
    KnownBody read = reading.known(body);
    if (read != null) {
      bodies.put(fingers, read, needless);
    }
    return reading.result();
  }

  /** What is remembered. */
  public Counts counts() {
    return new Counts(
        bodies.bytes(), bodies.maxBytes(), parsedBytes.sum(), knownBytes.sum(), bodies.evictions());
  }

  /** The same for a scrape. */
  public void collect(MetricValues to) {
    Counts counts = counts();
    to.add(Metric.BODY_BYTES_TOTAL, counts.knownBytes(), "memory");
    to.add(Metric.BODY_BYTES_TOTAL, counts.parsedBytes(), "parsed");
    to.add(Metric.BODY_MEMORY_BYTES, counts.bytes());
    to.add(Metric.BODY_MEMORY_MAX_BYTES, counts.maxBytes());
    to.add(Metric.BODY_EVICTIONS_TOTAL, counts.evictions());
  }

  /**
   * The bodies that are remembered, found by how they begin. When there is no room, the one that
   * was used longest ago goes.
   *
   * <p>Thread-safe.
   */
  private static final class KnownBodies {

    /*
     * A finger stands for the few bytes at every 8,192nd place up to its own. It only finds a
     * candidate: bytes are compared before anything is believed. A body is listed under all of its
     * fingers, and of several bodies with the same the last counts.
     */
    private static final int STEP_BYTES = 8192;

    private static final int WINDOW_BYTES = 64;
    private static final int SHORTEST_BYTES = STEP_BYTES + WINDOW_BYTES;
    private static final long MIX = 0x9e3779b97f4a7c15L;
    private static final VarHandle LONGS =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final long maxBytes;
    private final Map<Long, KnownBody> byFinger = new HashMap<>();
    private final Map<KnownBody, long[]> byUse = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;
    private long evictions;

    KnownBodies(long maxBytes) {
      this.maxBytes = maxBytes;
    }

    /** Whether a body is long enough, and an object in UTF-8 if it is JSON at all. */
    boolean takes(byte[] body) {
      return maxBytes > 0 && body.length >= SHORTEST_BYTES && body[0] == '{' && body[1] != 0;
    }

    /** The fingers of a body that is {@linkplain #takes long enough}. */
    static long[] fingers(byte[] body) {
      long[] fingers = new long[(body.length - WINDOW_BYTES) / STEP_BYTES];
      long finger = window(body, 0, 0);
      for (int i = 0; i < fingers.length; i++) {
        finger = window(body, (i + 1) * STEP_BYTES, finger);
        fingers[i] = finger;
      }
      return fingers;
    }

    private static long window(byte[] body, int from, long seed) {
      long hash = seed;
      for (int at = from; at < from + WINDOW_BYTES; at += Long.BYTES) {
        hash = (hash ^ (long) LONGS.get(body, at)) * MIX;
        hash ^= hash >>> 32;
      }
      return hash;
    }

    /** The body that seems to share the most. */
    synchronized @Nullable KnownBody find(long[] fingers) {
      for (int i = fingers.length - 1; i >= 0; i--) {
        KnownBody found = byFinger.get(fingers[i]);
        if (found != null) {
          byUse.get(found); // used just now
          return found;
        }
      }
      return null;
    }

    /**
     * Remembers a body.
     *
     * @param needless another one that this one stands in for
     */
    synchronized void put(long[] fingers, KnownBody body, @Nullable KnownBody needless) {
      if (needless != null) {
        forget(needless, byUse.remove(needless));
      }
      if (body.weight() > maxBytes) {
        return;
      }
      bytes += body.weight();
      byUse.put(body, fingers);
      for (long finger : fingers) {
        byFinger.put(finger, body);
      }
      Iterator<Map.Entry<KnownBody, long[]>> oldest = byUse.entrySet().iterator();
      while (bytes > maxBytes) {
        Map.Entry<KnownBody, long[]> entry = oldest.next();
        oldest.remove();
        forget(entry.getKey(), entry.getValue());
        evictions++;
      }
    }

    synchronized long bytes() {
      return bytes;
    }

    long maxBytes() {
      return maxBytes;
    }

    synchronized long evictions() {
      return evictions;
    }

    private void forget(KnownBody body, long @Nullable [] fingers) {
      if (fingers == null) {
        return; // another thread did
      }
      bytes -= body.weight();
      for (long finger : fingers) {
        byFinger.remove(finger, body);
      }
    }
  }
}
