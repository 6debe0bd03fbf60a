package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a large batch takes while it is applied, and afterwards. */
class BatchMemoryTest {

  private static final int MANY = 2 << 20;

  /** A time and then events. */
  private static final String BATCH_OF = "92cb3ff0000000000000";

  /** As docs/kv-events.md says it, and what any batch may take. */
  private static final long MOST_BYTES_PER_BYTE = 16;

  private static final long SPARE_BYTES = 16 << 20;

  /** Batches that take the most for their length. */
  enum Form {
    HASHES_STORED(array("BlockStored", many("01"), "c0", "90", "10", "c0", text("GPU"))),
    WIDER_HASHES_STORED(
        array("BlockStored", many("ce01020304"), "c0", "90", "10", "c0", text("GPU"))),
    WIDER_HASHES_REMOVED(array("BlockRemoved", many("cd0102"), text("GPU"))),
    HASHES_REMOVED(array("BlockRemoved", many("01"), text("GPU"))),
    TOKENS(array("BlockStored", "9101", "c0", many("01"), "ce00200000", "c0", text("GPU"))),
    KEYS(
        array(
            "BlockStored",
            many("01"),
            "c0",
            many("01"),
            "01",
            "c0",
            text("GPU"),
            "c0",
            many("91a162"))),
    LISTS_OF_KEYS(
        array(
            "BlockStored",
            many("01"),
            "c0",
            many("01"),
            "01",
            "c0",
            text("GPU"),
            "c0",
            many("90"))),
    UNKNOWN_KEYS(
        array(
            "BlockStored",
            many("01"),
            "c0",
            many("01"),
            "01",
            "c0",
            text("GPU"),
            "c0",
            many("9101")));

    private final String event;

    Form(String event) {
      this.event = event;
    }

    private byte[] payload() {
      return bytes(BATCH_OF + "91" + event);
    }
  }

  @ParameterizedTest
  @EnumSource
  void takesAFewTimesItsBytes(Form form) {
    assertWithinBounds(form.payload());
  }

  @Test
  void manyEventsTakeAFewTimesTheirBytes() {
    assertWithinBounds(bytes(BATCH_OF + many(array("AllBlocksCleared"))));
    String ids = "dc0010" + "01".repeat(16);
    String store = array("BlockStored", ids, "c0", ids, "01", "c0", text("GPU"));
    assertWithinBounds(bytes(BATCH_OF + many(store)));
  }

  /** Each engine has its own decoder, so what one keeps is kept as often as there are engines. */
  @Test
  void keepsNothingOfIt() {
    byte[] stored = Form.HASHES_STORED.payload();
    byte[] removed = Form.HASHES_REMOVED.payload();
    List<EngineStream> engines = new ArrayList<>();
    long before = usedBytes();
    for (int i = 0; i < 16; i++) {
      EngineStream engine = stream();
      engine.live(new StreamMessage(0, stored));
      engine.live(new StreamMessage(1, removed));
      engines.add(engine);
    }
    assertThat(usedBytes() - before).isLessThan(16L * MANY);
    assertThat(engines).hasSize(16);
  }

  private static void assertWithinBounds(byte[] payload) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    EngineStream stream = stream();
    long before = threads.getCurrentThreadAllocatedBytes();
    stream.live(new StreamMessage(0, payload));
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).isLessThan(MOST_BYTES_PER_BYTE * payload.length + SPARE_BYTES);
  }

  private static EngineStream stream() {
    EngineSource source =
        new EngineSource(
            new EngineId("r", 0), "m", "inproc://nobody", false, null, EngineDialect.VLLM);
    StreamCounters counters = new StreamCounters();
    EventApplier applier =
        new EventApplier(new RunKvIndex(IndexLimits.unbounded(10)), source, counters);
    EngineStream stream =
        new EngineStream(
            applier, StreamSockets.NO_REPLAY, StreamLimits.DEFAULT, System::nanoTime, counters);
    stream.connected();
    return stream;
  }

  private static long usedBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static String array(String type, String... fields) {
    return "%02x".formatted(0x91 + fields.length) + text(type) + String.join("", fields);
  }

  private static String text(String value) {
    StringBuilder hex = new StringBuilder("%02x".formatted(0xa0 + value.length()));
    for (byte letter : value.getBytes(StandardCharsets.US_ASCII)) {
      hex.append("%02x".formatted(letter));
    }
    return hex.toString();
  }

  /** An array of very many of these, or of long ones fewer, marked: as text it would be long. */
  private static String many(String value) {
    return "(" + value + ")";
  }

  private static byte[] bytes(String marked) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int at = 0; at < marked.length(); at += 2) {
      if (marked.charAt(at) == '(') {
        int end = marked.indexOf(')', at);
        byte[] value = bytes(marked.substring(at + 1, end));
        int count = value.length < 16 ? MANY : MANY / value.length;
        out.writeBytes(ByteBuffer.allocate(5).put((byte) 0xdd).putInt(count).array());
        for (int i = 0; i < count; i++) {
          out.writeBytes(value);
        }
        at = end - 1;
      } else {
        out.write(Integer.parseInt(marked, at, at + 2, 16));
      }
    }
    return out.toByteArray();
  }
}
