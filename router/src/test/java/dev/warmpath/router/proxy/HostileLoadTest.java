package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that want to use up the router's memory. */
class HostileLoadTest {

  private static final int MIB = 1 << 20;
  private static final int BODY_LIMIT = 8 * MIB;
  private static final int IDLE = 10_000;

  @Test
  void bodiesOfAGigabyteAreRefusedAndTakeNoMemory() throws Exception {
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("limits.body-bytes", BODY_LIMIT, "test")
                    .set("timeouts.request-body-ms", 2_000, "test"))) {
      assertThat(rig.chat("{}").statusCode()).isEqualTo(200);
      long before = memory();
      String post = "POST /v1/completions HTTP/1.1\r\nhost: x\r\n";
      String declared = flood(rig, post + "content-length: 1073741824\r\n\r\n", "");
      String chunked = flood(rig, post + "transfer-encoding: chunked\r\n\r\n", "100000\r\n");
      assertThat(declared).contains(" 413 ");
      assertThat(chunked).contains(" 413 ");
      String unknown =
          flood(rig, post.replace("/v1/", "/v9/") + "content-length: 1073741824\r\n\r\n", "");
      assertThat(unknown).contains(" 404 ");
      rig.untilIdle();
      assertThat(memory() - before).isLessThan(64L * MIB);
      assertThat(rig.metrics().get("warmpath_request_bodies_bytes")).isZero();
      assertThat(rig.backends.get(0).bodies).hasSize(1);
    }
  }

  /** Sends chunks of a mebibyte until the other side has had enough, and reads its answer. */
  private static String flood(Rig rig, String head, String chunkHead) throws IOException {
    byte[] mebibyte = new byte[MIB];
    Socket socket = new Socket("127.0.0.1", rig.router.port());
    try {
      socket.setSoTimeout((int) Rig.PATIENCE.toMillis());
      OutputStream out = socket.getOutputStream();
      out.write(head.getBytes(UTF_8));
      Thread writer =
          new Thread(() -> {
            try {
              for (int i = 0; i < 1_024; i++) {
                out.write(chunkHead.getBytes(UTF_8));
                out.write(mebibyte);
                out.write(chunkHead.isEmpty() ? new byte[0] : "\r\n".getBytes(UTF_8));
              }
            } catch (IOException e) {
              // it was cut
            }
          });
      writer.start();
      StringBuilder seen = new StringBuilder();
      byte[] buffer = new byte[4_096];
      try {
        for (int n = socket.getInputStream().read(buffer);
            n >= 0;
            n = socket.getInputStream().read(buffer)) {
          seen.append(new String(buffer, 0, n, UTF_8));
        }
      } catch (IOException e) {
        // reset: an end as well
      }
      socket.close();
      writer.join();
      return seen.toString();
    } catch (InterruptedException e) {
      throw new IOException(e);
    } finally {
      socket.close();
    }
  }

  @Test
  void idleConnectionsTakeNextToNothing() throws Exception {
    UnixOperatingSystemMXBean system =
        (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long free = system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount() - 500;
    int count = (int) Math.min(IDLE, free / 2);
    assumeTrue(count >= 1_000, "too few file descriptors: " + free);
    List<SocketChannel> idle = new ArrayList<>();
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.request-head-ms", 600_000, "test"))) {
      assertThat(rig.chat("{}").statusCode()).isEqualTo(200);
      long before = memory();
      for (int i = 0; i < count; i++) {
        idle.add(SocketChannel.open(new InetSocketAddress("127.0.0.1", rig.router.port())));
      }
      Rig.until(() -> rig.metrics().get("warmpath_connections") >= count);
      assertThat((memory() - before) / count).as("bytes a connection").isLessThan(16_384);
      assertThat(rig.chat("{}").statusCode()).isEqualTo(200);
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
        assertThat(client.readUntil("\r\n")).contains(" 200 ");
      }
    } finally {
      for (SocketChannel channel : idle) {
        channel.close();
      }
    }
  }

  /** Heap that is in use after a collection, and memory of the network outside of it. */
  private static long memory() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      long heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
      least = Math.min(least, heap);
    }
    return least + Math.max(0, PlatformDependent.usedDirectMemory());
  }
}
