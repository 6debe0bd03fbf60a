package dev.warmpath.router.config;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the router shows and believes when it connects to a replica.
 *
 * <p>Immutable.
 */
public record UpstreamConfig(
    @Key(namesFile = true) @Nullable String apiKeyFile,
    @Key(namesFile = true) @Nullable String tlsCa,
    @Key(namesFile = true) @Nullable String tlsCert,
    @Key(namesFile = true) @Nullable String tlsKey) {

  public UpstreamConfig {
    if ((tlsCert == null) != (tlsKey == null)) {
      throw new IllegalArgumentException("'tls-cert' and 'tls-key' need each other");
    }
  }

  /** Whether it says anything about TLS. */
  public boolean hasTls() {
    return tlsCa != null || tlsCert != null;
  }

  /** This, with {@code standard} where it says nothing. */
  public UpstreamConfig or(UpstreamConfig standard) {
    boolean own = tlsCert != null;
    return new UpstreamConfig(
        apiKeyFile == null ? standard.apiKeyFile : apiKeyFile,
        tlsCa == null ? standard.tlsCa : tlsCa,
        own ? tlsCert : standard.tlsCert,
        own ? tlsKey : standard.tlsKey);
  }

  /** The same without what only TLS needs. */
  public UpstreamConfig withoutTls() {
    return new UpstreamConfig(apiKeyFile, null, null, null);
  }

  /** The files that it names. */
  public List<Path> files() {
    return Stream.of(apiKeyFile, tlsCa, tlsCert, tlsKey)
        .filter(file -> file != null)
        .map(Path::of)
        .toList();
  }
}
