package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonParser.NumberType;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

  /**
   * Builds the object of one body and notes where its messages begin.
   *
   * <p>Confined to one thread.
   */
  private static final class BodyReading {

    /*
     * A body that continues a known one is read as an object of its own: the list's field with the
     * messages from the last shared one on, then what follows in the body. Equal bytes up to the
     * beginning of that message mean that the parser stands in the same place of the same list there,
     * so it says the same of all that follows: other fields, and fields given twice, of which the last
     * counts and the first keeps its place. One message that is known is thus read again, which shows
     * that a comma behind it is followed by another.
     */

    /** The lists that grow with a chat. */
    private static final Set<String> LISTS = Set.of("messages", "input");

    private final ObjectReader json;
    private final ObjectNode result;
    private final int shift;
    private final NamedModels models;
    private @Nullable Messages messages;
    private @Nullable ObjectNode before;
    private @Nullable NamedModels modelsBefore;
    private String name = "";

    private BodyReading(ObjectReader json, NamedModels models) {
      this.json = json;
      this.models = models;
      this.result = (ObjectNode) json.createObjectNode();
      this.shift = 0;
    }

    private BodyReading(
        ObjectReader json, NamedModels models, KnownBody known, int shared, int shift) {
      this.json = json;
      this.models = models;
      this.models.copy(known.modelsBefore());
      this.result = (ObjectNode) json.createObjectNode();
      this.result.setAll(known.before());
      this.messages = known.messages().first(shared);
      this.shift = shift;
    }

    /**
     * Reads a body; null if it begins no object.
     *
     * @param models gets those that it names
     * @param remembers whether {@link #known} is asked
     */
    static @Nullable BodyReading whole(
        ObjectReader json, NamedModels models, byte[] body, boolean remembers) throws IOException {
      BodyReading reading = new BodyReading(json, models);
      return reading.read(body, remembers) ? reading : null;
    }

    /** Reads a body whose first messages are known. */
    static BodyReading continued(
        ObjectReader json, NamedModels models, KnownBody known, int shared, byte[] body)
        throws IOException {
      byte[] head = ("{\"" + known.name() + "\":[").getBytes(UTF_8);
      int from = known.start(shared);
      byte[] rest = Arrays.copyOf(head, head.length + body.length - from);
      System.arraycopy(body, from, rest, head.length, body.length - from);
      BodyReading reading = new BodyReading(json, models, known, shared, from - head.length);
      boolean unused = reading.read(rest, true);
      return reading;
    }

    ObjectNode result() {
      return result;
    }

    /** What is worth remembering; null if nothing is. */
    @Nullable KnownBody known(byte[] body) {
      return before == null || modelsBefore == null || messages == null || messages.count() < 2
          ? null
          : new KnownBody(body, before, modelsBefore, name, messages);
    }

    private boolean read(byte[] bytes, boolean remembers) throws IOException {
      try (JsonParser parser = json.createParser(bytes)) {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
          return false;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          String field = parser.currentName();
          boolean isList = parser.nextToken() == JsonToken.START_ARRAY && LISTS.contains(field);
          if (isList && remembers && before == null) {
            readMessages(parser, field);
          } else {
            readField(parser, field);
          }
        }
        return true;
      }
    }

    private void readField(JsonParser parser, String field) throws IOException {
      JsonNode value = value(parser);
      result.set(field, value);
      if (value.isTextual() && NamedModels.isOne(field)) {
        models.add(field, value.textValue());
      } else if (NamedModels.isOne(field)) {
        try (JsonParser again = value.traverse()) {
          again.nextToken();
          models.read(field, again);
        }
      }
    }

    /** The value here; what is plain is read without a context of Jackson's of its own. */
    private JsonNode value(JsonParser parser) throws IOException {
      return switch (parser.currentToken()) {
        case VALUE_STRING -> result.textNode(parser.getText());
        case VALUE_TRUE -> result.booleanNode(true);
        case VALUE_FALSE -> result.booleanNode(false);
        case VALUE_NUMBER_INT ->
            parser.getNumberType() == NumberType.INT
                ? result.numberNode(parser.getIntValue())
                : json.readTree(parser);
        default -> json.readTree(parser);
      };
    }

    private void readMessages(JsonParser parser, String field) throws IOException {
      name = field;
      before = ((ObjectNode) json.createObjectNode()).setAll(result);
      modelsBefore = new NamedModels();
      modelsBefore.copy(models);
      Messages all = messages == null ? new Messages() : messages;
      messages = all;
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        long start = parser.currentTokenLocation().getByteOffset();
        all.add(json.readTree(parser), Math.toIntExact(start + shift));
      }
      ArrayNode list = result.arrayNode(all.count());
      all.addTo(list);
      result.set(field, list);
    }
  }
}
