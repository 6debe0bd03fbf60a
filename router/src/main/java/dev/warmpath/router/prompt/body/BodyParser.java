package dev.warmpath.router.prompt.body;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import java.io.IOException;
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

  /**
   * The body's first value; a missing node if there is none.
   *
   * @param share pays for its nodes and for what is made of them
   * @throws TreeRoom.FullException if there is no room for them
   */
  public JsonNode parse(byte[] body, TreeRoom.Share share) throws IOException {
    ObjectReader reader = share.reader(json, body);
    if (!bodies.takes(body)) {
      parsedBytes.add(body.length);
      return reader.readTree(body);
    }
    try {
      return read(reader, body);
    } catch (IOException e) {
      parsedBytes.add(body.length);
      return reader.readTree(body); // one that reads piece by piece words some failures otherwise
    }
  }

  private JsonNode read(ObjectReader reader, byte[] body) throws IOException {
    long[] fingers = KnownBodies.fingers(body);
    KnownBody known = bodies.find(fingers);
    int shared = known == null ? 0 : known.shared(body);
    if (known == null || shared == 0) {
      parsedBytes.add(body.length);
      return remembered(fingers, body, BodyReading.whole(reader, body), null);
    }
    BodyReading reading = BodyReading.continued(reader, known, shared, body);
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
}
