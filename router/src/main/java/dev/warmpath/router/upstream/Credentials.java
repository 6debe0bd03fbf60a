package dev.warmpath.router.upstream;

import dev.warmpath.router.config.UpstreamConfig;
import dev.warmpath.router.security.PemFiles;
import io.vertx.core.Vertx;
import io.vertx.core.net.ClientSSLOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the router shows and believes at the replicas that share one {@link UpstreamConfig}, as its
 * files say now.
 *
 * <p>Thread-safe.
 */
final class Credentials {

  /** Of replicas that ask for nothing. */
  static final Credentials NONE = new Credentials(new UpstreamConfig(null, null, null, null));

  private final UpstreamConfig config;
  private volatile @Nullable String authorization;
  private volatile ClientSSLOptions tls = trusting();

  Credentials(UpstreamConfig config) {
    this.config = config;
  }

  private static ClientSSLOptions trusting() {
    return new ClientSSLOptions().setHostnameVerificationAlgorithm("HTTPS");
  }

  UpstreamConfig config() {
    return config;
  }

  /** What the watch calls its files. */
  String name() {
    return "upstream " + String.join(",", config.files().stream().map(Object::toString).toList());
  }

  @Nullable String authorization() {
    return authorization;
  }

  ClientSSLOptions tls() {
    return tls;
  }

  /** Takes over what the configured files hold, all or nothing. */
  void load(Vertx vertx, List<byte[]> contents) throws IOException {
    Iterator<byte[]> next = contents.iterator();
    String key = config.apiKeyFile() == null ? null : "Bearer " + key(next.next());
    ClientSSLOptions trusting = trusting();
    if (config.tlsCa() != null) {
      trusting.setTrustOptions(PemFiles.trust(next.next()));
    }
    if (config.tlsCert() != null) {
      trusting.setKeyCertOptions(PemFiles.keyCert(vertx, next.next(), next.next()));
    }
    authorization = key;
    tls = trusting;
  }

  private static String key(byte[] contents) throws IOException {
    String key = new String(contents, StandardCharsets.UTF_8).strip();
    if (key.isEmpty() || !key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IOException("the file must hold one key, of printable ASCII without spaces");
    }
    return key;
  }
}
