package dev.warmpath.router.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SealTest {

  private static final String SECRET = "0123456789abcdef";

  private final Seal one = new Seal(SECRET, "c");
  private final Seal other = new Seal(SECRET, "c");

  private static byte[] open(Seal by, byte[] frame) {
    return by.open(frame, 0, frame.length);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void opensWhatTheOtherClosedOnce() {
    byte[] frame = one.close(ByteBuffer.wrap(bytes("hello")));
    assertThat(frame).hasSize(Seal.OVERHEAD + 5);
    assertThat(new String(frame, StandardCharsets.ISO_8859_1)).doesNotContain("hello");
    assertThat(open(other, frame)).isEqualTo(bytes("hello"));
    assertThat(open(other, frame)).as("played back").isNull();
    assertThat(one.close(ByteBuffer.wrap(bytes("hello")))).isNotEqualTo(frame);
  }

  @Test
  void anotherSecretOrClusterOpensNothing() {
    byte[] frame = one.close(ByteBuffer.wrap(bytes("hello")));
    assertThat(open(new Seal(SECRET + "0", "c"), frame)).isNull();
    assertThat(open(new Seal(SECRET, "d"), frame)).isNull();
  }

  @Test
  void noBitCanBeChanged() {
    byte[] frame = one.close(ByteBuffer.wrap(bytes("hello")));
    for (int bit = 0; bit < 8 * frame.length; bit++) {
      frame[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(open(other, frame)).as("bit %d", bit).isNull();
      frame[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertThat(open(other, frame)).isNotNull();
  }

  @Property(tries = 1000)
  void anyBytesAreRefused(@ForAll byte[] frame) {
    assertThat(open(other, frame)).isNull();
  }

  @Test
  void framesMayOvertakeEachOtherWithinTheWindow() {
    List<byte[]> frames = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      frames.add(one.close(ByteBuffer.wrap(bytes("m" + i))));
    }
    assertThat(open(other, frames.get(2000))).isNotNull();
    assertThat(open(other, frames.get(2000 - 1023))).isNotNull();
    assertThat(open(other, frames.get(2000 - 1024))).as("too old to tell").isNull();
    assertThat(open(other, frames.get(1999))).isNotNull();
    assertThat(open(other, frames.get(1999))).isNull();
    assertThat(open(other, frames.get(2999))).isNotNull();
    assertThat(open(other, frames.get(2500))).isNotNull();
    assertThat(open(other, frames.get(2000))).isNull();
    assertThat(open(other, frames.get(2001))).isNotNull();
  }

  @Test
  void anEndlessStreamOfSendersIsForgotten() {
    byte[] first = one.close(ByteBuffer.wrap(bytes("first")));
    assertThat(open(other, first)).isNotNull();
    for (int i = 0; i < 300; i++) {
      Seal next = new Seal(SECRET, "c");
      assertThat(open(other, next.close(ByteBuffer.wrap(bytes("x"))))).isNotNull();
    }
    assertThat(open(other, one.close(ByteBuffer.wrap(bytes("still"))))).isNotNull();
  }
}
