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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
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

  /**
   * A new key with a certificate that nobody vouches for: it hides what is said, and says nothing
   * of who listens. As PEM.
   */
  private record SelfSigned(String certificate, String key) {

    /** As long as the usual life of a process many times over; UTCTime ends with 2049. */
    private static final Duration LIFE = Duration.ofDays(3650);

    private static final DateTimeFormatter UTC_TIME =
        DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    private static final int SERIAL_BITS = 127;
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OBJECT = 0x06;
    private static final int UTF8 = 0x0c;
    private static final int TIME = 0x17;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int VERSION = 0xa0;

    /** ecdsa-with-SHA256: 1.2.840.10045.4.3.2. */
    private static final byte[] ECDSA = {0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2};

    /** commonName: 2.5.4.3. */
    private static final byte[] COMMON_NAME = {0x55, 4, 3};

    /** Made now, on P-256. */
    static SelfSigned make(String name, Instant now) {
      try {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair pair = generator.generateKeyPair();
        byte[] algorithm = der(SEQUENCE, der(OBJECT, ECDSA));
        byte[] common = der(SEQUENCE, der(OBJECT, COMMON_NAME), der(UTF8, name.getBytes(US_ASCII)));
        byte[] called = der(SEQUENCE, der(SET, common));
        byte[] told =
            der(
                SEQUENCE,
                der(VERSION, der(INTEGER, new byte[] {2})), // X.509 v3
                der(INTEGER, new BigInteger(SERIAL_BITS, new SecureRandom()).toByteArray()),
                algorithm,
                called,
                der(SEQUENCE, time(now.minus(Duration.ofDays(1))), time(now.plus(LIFE))),
                called,
                pair.getPublic().getEncoded());
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(pair.getPrivate());
        signature.update(told);
        byte[] signed = der(BIT_STRING, new byte[1], signature.sign());
        return new SelfSigned(
            pem("CERTIFICATE", der(SEQUENCE, told, algorithm, signed)),
            pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("every Java has P-256", e);
      }
    }

    private static byte[] time(Instant at) {
      return der(TIME, UTC_TIME.format(at).getBytes(US_ASCII));
    }

    private static byte[] der(int tag, byte[]... parts) {
      ByteArrayOutputStream content = new ByteArrayOutputStream();
      for (byte[] part : parts) {
        content.writeBytes(part);
      }
      ByteArrayOutputStream whole = new ByteArrayOutputStream();
      whole.write(tag);
      int length = content.size();
      if (length >= 0x80) {
        int bytes = length < 0x100 ? 1 : 2;
        whole.write(0x80 | bytes);
        if (bytes == 2) {
          whole.write(length >>> Byte.SIZE);
        }
      }
      whole.write(length);
      whole.writeBytes(content.toByteArray());
      return whole.toByteArray();
    }

    private static String pem(String kind, byte[] der) {
      String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
      return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
    }
  }
}
