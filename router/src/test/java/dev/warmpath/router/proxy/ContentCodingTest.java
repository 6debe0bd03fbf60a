package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that agents send compressed, as Codex does long ones. */
class ContentCodingTest {

  private static final int LIMIT_BYTES = 1 << 20;
  private static final byte[] BODY =
      ("{\"model\":\"m\",\"prompt\":\"" + "many words ".repeat(2_000) + "\"}").getBytes(UTF_8);

  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = new Rig(1, tree -> tree.set("limits.body-bytes", LIMIT_BYTES, "test"));
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @BeforeEach
  void fresh() {
    rig.backends.get(0).bodies.clear();
    rig.backends.get(0).headers.clear();
  }

  @ParameterizedTest
  @CsvSource({
    "zstd, zstd",
    "gzip, gzip",
    "X-GZip, gzip",
    "deflate, deflate",
    "'identity, zstd', zstd",
    "identity, identity"
  })
  void engineGetsWhatTheBodyStandsFor(String header, String coding) throws Exception {
    HttpResponse<byte[]> answer = post(header, coded(coding, BODY));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(rig.backends.get(0).bodies.get(0).getBytes()).isEqualTo(BODY);
    assertThat(rig.backends.get(0).headers.get(0)).doesNotContainKey("content-encoding");
    rig.untilIdle();
    assertThat(rig.metrics().get("warmpath_request_bodies_bytes")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"zstd", "gzip", "deflate"})
  void damagedBodyIsRefused(String coding) throws Exception {
    byte[] whole = coded(coding, BODY);
    for (byte[] damaged :
        new byte[][] {BODY, Arrays.copyOf(whole, whole.length / 2), new byte[] {1}}) {
      HttpResponse<byte[]> answer = post(coding, damaged);
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(new String(answer.body(), UTF_8))
          .contains("cannot be decoded as " + coding, "bad_content_encoding");
    }
    nothingIsLeft();
  }

  @ParameterizedTest
  @ValueSource(strings = {"br", "gzip, zstd", "compress"})
  void otherCodingsAreRefusedBeforeTheBody(String header) throws Exception {
    HttpResponse<byte[]> answer = post(header, BODY);
    assertThat(answer.statusCode()).isEqualTo(415);
    assertThat(answer.headers().firstValue("accept-encoding")).contains("zstd, gzip, deflate");
    nothingIsLeft();
  }

  /** A few kilobytes that stand for more than the heap holds. */
  @ParameterizedTest
  @ValueSource(strings = {"zstd", "gzip", "deflate"})
  void bombsEndAtTheLimit(String coding) throws Exception {
    byte[] fits = new byte[LIMIT_BYTES];
    assertThat(post(coding, coded(coding, fits)).statusCode()).isEqualTo(200);
    rig.backends.get(0).bodies.clear();
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (OutputStream out = coder(coding, bomb)) {
      for (int i = 0; i < 256; i++) {
        out.write(fits);
      }
    }
    assertThat(bomb.size()).isLessThan(LIMIT_BYTES);
    assertThat(post(coding, bomb.toByteArray()).statusCode()).isEqualTo(413);
    nothingIsLeft();
  }

  @Test
  void clientThatLeavesLeavesNothing() throws Exception {
    byte[] coded = coded("gzip", new byte[LIMIT_BYTES]);
    for (int i = 0; i < 50; i++) {
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write(
            "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-encoding: gzip\r\n"
                + "content-length: %d\r\n\r\n".formatted(coded.length));
        client.write(coded).reset();
      }
    }
    assertThat(post("identity", BODY).statusCode()).as("one who stays").isEqualTo(200);
    Rig.until(() -> {
      Map<String, Double> now = rig.metrics();
      return now.get("warmpath_request_bodies_bytes") == 0
          && now.get("warmpath_body_scans_waiting") == 0;
    });
  }

  /** A stream of zstd says how much memory its reader needs: up to gigabytes. */
  @Test
  void windowIsBounded() throws Exception {
    ByteArrayOutputStream wide = new ByteArrayOutputStream();
    try (ZstdOutputStreamNoFinalizer out = new ZstdOutputStreamNoFinalizer(wide)) {
      out.setLong(27);
      out.write(BODY);
    }
    assertThat(post("zstd", wide.toByteArray()).statusCode()).isEqualTo(400);
    nothingIsLeft();
  }

  private static void nothingIsLeft() throws Exception {
    assertThat(rig.backends.get(0).bodies).isEmpty();
    rig.untilIdle();
    assertThat(rig.metrics().get("warmpath_request_bodies_bytes")).isZero();
  }

  private static HttpResponse<byte[]> post(String header, byte[] body) throws Exception {
    return rig.send(rig.post("/v1/completions", body).header("content-encoding", header).build());
  }

  private static byte[] coded(String coding, byte[] plain) throws IOException {
    if (coding.equals("zstd")) {
      return Zstd.compress(plain);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = coder(coding, bytes)) {
      out.write(plain);
    }
    return bytes.toByteArray();
  }

  private static OutputStream coder(String coding, OutputStream to) throws IOException {
    return switch (coding) {
      case "zstd" -> new ZstdOutputStreamNoFinalizer(to);
      case "gzip" -> new GZIPOutputStream(to);
      case "deflate" -> new DeflaterOutputStream(to);
      default -> to;
    };
  }
}
