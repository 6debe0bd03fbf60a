package dev.warmpath.router.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.Certificates.Issued;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The router's own ports with certificates, over sockets. */
class ServerTlsTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final int CLIENTS = 4;
  private static final int RENEWALS = 8;

  @TempDir private Path folder;
  private final Certificates authority = new Certificates();
  private SSLContext trusting;

  @BeforeEach
  void certificate() throws Exception {
    trusting = authority.client(null);
    show(authority.issue("127.0.0.1"));
  }

  @Test
  void bothPortsSpeakTlsAndNothingElse() throws Exception {
    try (Rig rig = rig()) {
      HttpClient client = client(trusting);
      assertThat(status(client, rig.router.port(), "/v1/models")).isEqualTo(200);
      assertThat(status(client, rig.router.adminPort(), "/admin/fleet")).isEqualTo(200);
      try (RawClient plain = new RawClient(rig.router.port())) {
        plain.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
        assertThat(plain.readToEnd()).doesNotContain("200");
      }
      try (SSLSocket socket = socket(rig.router.port())) {
        socket.setEnabledProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
        socket.startHandshake();
        assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
      }
    }
  }

  @Test
  void aCertificateThatIsRenewedUnderLoadBreaksNoRequest() throws Exception {
    List<String> failures = new CopyOnWriteArrayList<>();
    AtomicInteger answered = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    try (Rig rig = rig()) {
      List<Thread> load = new CopyOnWriteArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        boolean fresh = i % 2 == 0;
        Thread thread = new Thread(() -> drive(rig.router.port(), fresh, over, answered, failures));
        load.add(thread);
        thread.start();
      }
      Issued last = null;
      for (int i = 0; i < RENEWALS; i++) {
        int before = answered.get();
        last = authority.issue("127.0.0.1");
        Issued shown = last;
        show(shown);
        Rig.until(() -> serial(rig).equals(shown.certificate().getSerialNumber()));
        Rig.until(() -> answered.get() > before + CLIENTS || !failures.isEmpty());
      }
      over.countDown();
      for (Thread thread : load) {
        thread.join();
      }
      rig.untilIdle();
    }
    assertThat(failures).isEmpty();
    assertThat(answered.get()).isGreaterThan(RENEWALS * CLIENTS);
  }

  /** Posts until it is over, over one connection or over one for each request. */
  private void drive(
      int port, boolean fresh, CountDownLatch over, AtomicInteger answered, List<String> failures) {
    HttpClient client = client(trusting);
    while (over.getCount() > 0 && failures.isEmpty()) {
      try {
        HttpClient used = fresh ? client(authority.client(null)) : client;
        HttpResponse<String> answer = used.send(post(port), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() == 200) {
          answered.incrementAndGet();
        } else {
          failures.add(answer.statusCode() + answer.body());
        }
      } catch (Exception e) {
        failures.add(e.toString());
      }
    }
  }

  @Test
  void aRenewalThatCannotBeUsedKeepsTheOldCertificate() throws Exception {
    try (Rig rig = rig()) {
      var before = serial(rig);
      Certificates.replace(folder.resolve("cert"), authority.issue("127.0.0.1").certificatePem());
      Rig.until(() -> stale(rig) == 1);
      assertThat(serial(rig)).isEqualTo(before);
      show(authority.issue("127.0.0.1"));
      Rig.until(() -> stale(rig) == 0);
      Rig.until(() -> !serial(rig).equals(before));
    }
  }

  private double stale(Rig rig) {
    return metric(rig, "warmpath_watched_file_stale{file=\"listen.tls-cert\"}");
  }

  @Test
  void aRenewedCertificateServesHttp2Too() throws Exception {
    try (Rig rig = new Rig(1, tree -> configured(tree).set("listen.http2", true, "test"))) {
      var before = serial(rig);
      show(authority.issue("127.0.0.1"));
      Rig.until(() -> !serial(rig).equals(before));
      HttpClient client = HttpClient.newBuilder().sslContext(authority.client(null)).build();
      HttpResponse<String> answer =
          client.send(post(rig.router.port()), HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
    }
  }

  @Test
  void theEndOfTheCertificateIsMeasured() throws Exception {
    try (Rig rig = rig()) {
      double seconds = metric(rig, "warmpath_certificate_expiry_seconds{file=\"listen.tls-cert\"}");
      assertThat(seconds - System.currentTimeMillis() / 1e3).isBetween(80_000.0, 86_400.0);
    }
  }

  @Test
  void clientsShowACertificateIfOneIsAskedFor() throws Exception {
    String ca = authority.writeTo(folder.resolve("ca")).toString();
    try (Rig rig = new Rig(1, tree -> configured(tree).set("listen.tls-client-ca", ca, "test"))) {
      SSLContext known = authority.client(authority.issue("client"));
      assertThat(status(client(known), rig.router.port(), "/v1/models")).isEqualTo(200);
      assertThatThrownBy(() -> status(client(trusting), rig.router.port(), "/v1/models"))
          .isInstanceOf(IOException.class);
      SSLContext stranger = authority.client(new Certificates().issue("client"));
      assertThatThrownBy(() -> status(client(stranger), rig.router.port(), "/v1/models"))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void whatCannotBeShownIsSaidAtTheStart() throws Exception {
    Issued good = authority.issue("127.0.0.1");
    Issued other = authority.issue("127.0.0.1");
    refused(good.certificatePem(), other.keyPem(), "not that of the certificate");
    refused(good.certificatePem(), "no key", "private key cannot be read");
    refused("no certificate", good.keyPem(), "certificate");
    Issued ended = authority.issue(Duration.ofHours(-1), "127.0.0.1");
    refused(ended.certificatePem(), ended.keyPem(), "the certificate is valid from");
    java.nio.file.Files.delete(folder.resolve("key"));
    assertThatThrownBy(this::rig)
        .isInstanceOf(StartException.class)
        .hasMessageContaining("listen.tls-cert: ")
        .hasMessageContaining("key: no such file");
  }

  private void refused(String certificate, String key, String why) {
    Certificates.replace(folder.resolve("cert"), certificate);
    Certificates.replace(folder.resolve("key"), key);
    assertThatThrownBy(this::rig)
        .isInstanceOf(StartException.class)
        .hasMessageContaining("listen.tls-cert: ")
        .hasMessageContaining(why);
  }

  private void show(Issued issued) throws Exception {
    Certificates.replace(folder.resolve("key"), issued.keyPem());
    Certificates.replace(folder.resolve("cert"), issued.certificatePem());
  }

  private Rig rig() {
    return new Rig(
        1,
        tree ->
            configured(tree)
                .set("admin.tls-cert", folder.resolve("cert").toString(), "test")
                .set("admin.tls-key", folder.resolve("key").toString(), "test"));
  }

  private ConfigTree configured(ConfigTree tree) {
    return tree.set("listen.tls-cert", folder.resolve("cert").toString(), "test")
        .set("listen.tls-key", folder.resolve("key").toString(), "test")
        .set("tokenizing.deadline-ms", 10_000, "test")
        .set("files.poll-ms", 10, "test");
  }

  private double metric(Rig rig, String name) {
    try {
      String page =
          client(trusting)
              .send(get(rig.router.adminPort(), "/metrics"), HttpResponse.BodyHandlers.ofString())
              .body();
      return page.lines()
          .filter(line -> line.startsWith(name))
          .map(line -> Double.parseDouble(line.substring(name.length())))
          .findFirst()
          .orElseThrow();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private java.math.BigInteger serial(Rig rig) {
    try (SSLSocket socket = socket(rig.router.port())) {
      socket.startHandshake();
      return ((java.security.cert.X509Certificate) socket.getSession().getPeerCertificates()[0])
          .getSerialNumber();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One that takes up no session, which would keep the certificate of its first handshake. */
  private SSLSocket socket(int port) throws IOException {
    try {
      return (SSLSocket) authority.client(null).getSocketFactory().createSocket("127.0.0.1", port);
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpClient client(SSLContext context) {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(context).build();
  }

  private static int status(HttpClient client, int port, String path) throws Exception {
    return client.send(get(port, path), HttpResponse.BodyHandlers.ofString()).statusCode();
  }

  private static HttpRequest get(int port, String path) {
    return HttpRequest.newBuilder(uri(port, path)).timeout(Rig.PATIENCE).build();
  }

  private static HttpRequest post(int port) {
    return HttpRequest.newBuilder(uri(port, "/v1/completions"))
        .timeout(Rig.PATIENCE)
        .POST(HttpRequest.BodyPublishers.ofString(BODY))
        .build();
  }

  private static URI uri(int port, String path) {
    return URI.create("https://127.0.0.1:" + port + path);
  }
}
