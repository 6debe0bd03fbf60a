package dev.warmpath.router.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.Certificates.Issued;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replicas behind TLS. */
class UpstreamTlsTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  @TempDir private Path folder;
  private final Vertx vertx = Vertx.vertx();
  private final Certificates authority = new Certificates();
  private final AtomicInteger refusals = new AtomicInteger();
  private String ca;
  private int port;

  @BeforeEach
  void writeAuthority() throws Exception {
    ca = authority.writeTo(folder.resolve("ca")).toString();
  }

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void aReplicaOfAKnownAuthorityIsUsed() throws Exception {
    listen(authority.issue("127.0.0.1"), false);
    try (Rig rig = rig(1, Map.of("tls-ca", ca))) {
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void theAuthorityMayBeThatOfAllReplicas() throws Exception {
    listen(authority.issue("127.0.0.1"), false);
    try (Rig rig = rig(1, Map.of(), tree -> tree.set("upstream.tls-ca", ca, "test"))) {
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aReplicaOfAnotherAuthorityGetsNothing() throws Exception {
    listen(new Certificates().issue("127.0.0.1"), false);
    isRefused(Map.of("tls-ca", ca));
  }

  @Test
  void aReplicaThatNoUsualAuthorityKnowsGetsNothing() throws Exception {
    listen(authority.issue("127.0.0.1"), false);
    isRefused(Map.of());
  }

  @Test
  void aReplicaWithTheCertificateOfAnotherHostGetsNothing() throws Exception {
    listen(authority.issue("other.example", "127.0.0.2"), false);
    isRefused(Map.of("tls-ca", ca));
  }

  @Test
  void theRouterShowsItsCertificateAndOneThatIsRenewed() throws Exception {
    listen(authority.issue("127.0.0.1"), true);
    write("own", authority.issue("router"));
    Map<String, String> own =
        Map.of("tls-ca", ca, "tls-cert", path("own.cert"), "tls-key", path("own.key"));
    try (Rig rig = rig(1, own, tree -> tree.set("files.poll-ms", 10, "test"))) {
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      write("own", new Certificates().issue("router"));
      Rig.until(() -> refusals.get() > 0);
      write("own", authority.issue("router"));
      Rig.until(() -> isServed(rig));
    }
  }

  private static boolean isServed(Rig rig) {
    try {
      return rig.chat(BODY).statusCode() == 200;
    } catch (java.io.IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aReplicaThatAsksForACertificateRefusesARouterWithoutOne() throws Exception {
    listen(authority.issue("127.0.0.1"), true);
    isRefused(Map.of("tls-ca", ca));
  }

  @Test
  void wrongFilesAreSaidAtTheStart() throws Exception {
    listen(authority.issue("127.0.0.1"), false);
    write("a", authority.issue("router"));
    write("b", authority.issue("router"));
    Files.writeString(folder.resolve("empty"), "");
    assertThatThrownBy(
            () -> rig(0, Map.of("tls-cert", path("a.cert"), "tls-key", path("b.key"))).close())
        .isInstanceOf(StartException.class)
        .hasMessageContaining("replica tls")
        .hasMessageContaining("not that of the certificate");
    assertThatThrownBy(() -> rig(0, Map.of("tls-ca", path("empty"))).close())
        .isInstanceOf(StartException.class)
        .hasMessageContaining("empty: is empty");
    assertThatThrownBy(() -> rig(0, Map.of("tls-cert", path("a.cert"))).close())
        .hasStackTraceContaining("'tls-cert' and 'tls-key' need each other");
  }

  /** The health check finds out, as a request would: nothing is sent. */
  private void isRefused(Map<String, String> keys) throws Exception {
    try (Rig rig = rig(0, keys)) {
      Rig.until(() -> refusals.get() >= 2);
      assertThat(rig.up()).isZero();
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
    }
  }

  private Rig rig(int up, Map<String, String> keys) {
    return rig(up, keys, tree -> tree);
  }

  private Rig rig(int up, Map<String, String> keys, UnaryOperator<ConfigTree> change) {
    Map<String, Object> replica = new HashMap<>(keys);
    replica.put("name", "tls");
    replica.put("url", "https://127.0.0.1:" + port);
    return new Rig(0, tree -> change.apply(tree).put("replicas", replica, "test"), up);
  }

  private void listen(Issued shown, boolean asksForOne) throws Exception {
    HttpServerOptions options =
        new HttpServerOptions()
            .setSsl(true)
            .setKeyCertOptions(
                new PemKeyCertOptions()
                    .addCertValue(Buffer.buffer(shown.certificatePem()))
                    .addKeyValue(Buffer.buffer(shown.keyPem())));
    if (asksForOne) {
      options
          .setTrustOptions(new PemTrustOptions().addCertPath(ca))
          .setClientAuth(ClientAuth.REQUIRED);
    }
    HttpServer server =
        vertx
            .createHttpServer(options)
            .requestHandler(UpstreamTlsTest::answer)
            .exceptionHandler(e -> refusals.incrementAndGet());
    port =
        server
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS)
            .actualPort();
  }

  private static void answer(HttpServerRequest request) {
    request
        .response()
        .end(request.path().equals("/v1/models") ? "{\"data\":[{\"id\":\"m\"}]}" : "{}");
  }

  private void write(String name, Issued issued) throws Exception {
    Certificates.replace(folder.resolve(name + ".key"), issued.keyPem());
    Certificates.replace(folder.resolve(name + ".cert"), issued.certificatePem());
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }
}
