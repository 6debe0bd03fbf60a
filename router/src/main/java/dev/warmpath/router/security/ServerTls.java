package dev.warmpath.router.security;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate of one of the router's ports, as its files hold it now. A renewed one is shown to
 * connections that are opened from then on; those that are open go on.
 *
 * <p>Thread-safe.
 */
public final class ServerTls {

  private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);

  /** A certificate that is shown. Immutable. */
  private record Shown(ServerSSLOptions options, Instant expires) {}

  private final String name;
  private final Vertx vertx;
  private final List<HttpServer> servers = new CopyOnWriteArrayList<>();
  private volatile Shown shown = new Shown(new ServerSSLOptions(), Instant.EPOCH);

  private ServerTls(String name, Vertx vertx) {
    this.name = name;
    this.vertx = vertx;
  }

  /**
   * Reads the files of a port, now and when they change.
   *
   * @param section of the configuration that names them
   * @return null if the port has no TLS
   * @throws IOException if they cannot be used; the message names the key and says why
   */
  public static @Nullable ServerTls begin(
      String section, RouterConfig.ListenTls files, FileWatch watch, Vertx vertx)
      throws IOException {
    if (files.tlsCert() == null) {
      return null;
    }
    ServerTls tls = new ServerTls(section + ".tls-cert", vertx);
    watch.add(tls.name, files.files(), tls::load);
    return tls;
  }

  /**
   * A port whose certificate nobody vouches for, made now.
   *
   * @param section of the configuration that asks for it
   * @param now the time of day, from which it is valid for ten years
   */
  public static ServerTls selfSigned(String section, Instant now, Vertx vertx) throws IOException {
    ServerTls tls = new ServerTls(section + ".self-signed", vertx);
    SelfSigned made = SelfSigned.make("warmpath", now);
    tls.load(List.of(made.certificate().getBytes(US_ASCII), made.key().getBytes(US_ASCII)));
    return tls;
  }

  private void load(List<byte[]> contents) throws IOException {
    ServerSSLOptions options =
        new ServerSSLOptions()
            .setUseAlpn(true)
            .setKeyCertOptions(PemFiles.keyCert(vertx, contents.get(0), contents.get(1)));
    if (contents.size() > 2) {
      options.setTrustOptions(PemFiles.trust(contents.get(2))).setClientAuth(ClientAuth.REQUIRED);
    }
    Instant expires = PemFiles.certificates(contents.get(0)).get(0).getNotAfter().toInstant();
    shown = new Shown(options, expires);
    servers.forEach(server -> show(server, options));
  }

  private void show(HttpServer server, ServerSSLOptions options) {
    server
        .updateSSLOptions(options)
        .onFailure(e -> LOG.error("{}: the new certificate cannot be shown", name, e));
  }

  /** What a server that is to show the certificate is made with. */
  public HttpServerOptions on(HttpServerOptions server) {
    ServerSSLOptions options = shown.options;
    return server
        .setSsl(true)
        .setUseAlpn(true)
        .setKeyCertOptions(options.getKeyCertOptions())
        .setTrustOptions(options.getTrustOptions())
        .setClientAuth(options.getClientAuth());
  }

  /** The server listens now; it shows each renewed certificate. */
  public void listening(HttpServer server) {
    servers.add(server);
    show(server, shown.options);
  }

  /** The key that names it. */
  public String name() {
    return name;
  }

  /** When the certificate that is shown ends. */
  public Instant expires() {
    return shown.expires;
  }

  /** When the certificate expires, for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.CERTIFICATE_EXPIRY_SECONDS, shown.expires.getEpochSecond(), name);
  }
}
