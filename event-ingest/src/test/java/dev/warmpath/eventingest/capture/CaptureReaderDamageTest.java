package dev.warmpath.eventingest.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

class CaptureReaderDamageTest {

  @Test
  void passesOverUnknownKindsAndSurplusElements() throws IOException {
    byte[] file =
        file(
            ValueFactory.newArray(text("weather"), ValueFactory.newNil()),
            ValueFactory.newArray(
                text("mark"),
                ValueFactory.newInteger(1),
                ValueFactory.newNil(),
                text("quiescent"),
                ValueFactory.emptyMap(),
                text("surplus")));
    try (CaptureReader reader = open(file)) {
      assertThat(reader.next())
          .isEqualTo(new CaptureRecord.Mark(1, CaptureRecord.NO_STREAM, "quiescent", Map.of()));
      assertThat(reader.next()).isNull();
      assertThat(reader.records()).isEqualTo(2);
      assertThat(reader.truncated()).isFalse();
    }
  }

  @Test
  void namesFileRecordAndByteOfAMalformedRecord() throws IOException {
    try (CaptureReader reader = open(file(ValueFactory.newArray(text("mark"), text("now"))))) {
      assertThatThrownBy(reader::next)
          .isInstanceOf(CaptureException.class)
          .hasMessageMatching("it: record 1, before byte \\d+: t is not a number");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "hello", "\u0081", "\u00c1"})
  void refusesWhatIsNoCapture(String start) {
    byte[] bytes = start.getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> open(bytes)).isInstanceOf(CaptureException.class);
  }

  @Test
  void survivesDeepNesting() throws IOException {
    byte[] deep = new byte[200_000];
    Arrays.fill(deep, (byte) 0x91);
    try (CaptureReader reader = open(concat(file(), deep))) {
      assertThatThrownBy(reader::next).hasMessageContaining("nested deeper");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0xdd, 0xdf, 0xc6, 0xdb})
  void allocatesNothingForADeclaredLength(int head) throws IOException {
    byte[] huge = {(byte) head, 0x7f, -1, -1, -1, 1};
    try (CaptureReader reader = open(concat(file(), huge))) {
      try {
        assertThat(reader.next()).isNull();
        assertThat(reader.truncated()).isTrue();
      } catch (CaptureException e) {
        assertThat(e).hasMessageStartingWith("it: record 1");
      }
    }
  }

  @Property(tries = 500)
  void throwsNothingButCaptureExceptions(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    byte[] bytes =
        file(
            ValueFactory.newArray(
                text("events"),
                ValueFactory.newFloat(0.5),
                ValueFactory.newInteger(0),
                ValueFactory.newBinary(new byte[3]),
                ValueFactory.newInteger(1),
                ValueFactory.newBinary(new byte[40])));
    for (int i = random.nextInt(4); i >= 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    try (CaptureReader reader = open(bytes)) {
      CaptureRecord record = reader.next();
      while (record != null) {
        record = reader.next();
      }
    } catch (CaptureException e) {
      assertThat(e).hasMessageStartingWith("it: ");
    }
  }

  private static CaptureReader open(byte[] bytes) throws IOException {
    return CaptureReader.of("it", new ByteArrayInputStream(bytes));
  }

  private static byte[] file(Value... records) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (var packer = MessagePack.newDefaultPacker(out)) {
      packer.packValue(
          ValueFactory.newMapBuilder()
              .put(text("format"), text("warmpath-capture"))
              .put(text("version"), ValueFactory.newInteger(1))
              .put(text("streams"), ValueFactory.emptyArray())
              .build());
      for (Value record : records) {
        packer.packValue(record);
      }
    }
    return out.toByteArray();
  }

  private static byte[] concat(byte[] first, byte[] second) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(first);
    out.writeBytes(second);
    return out.toByteArray();
  }

  private static Value text(String text) {
    return ValueFactory.newString(text);
  }
}
