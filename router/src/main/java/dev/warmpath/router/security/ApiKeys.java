package dev.warmpath.router.security;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigReader;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.Key;
import dev.warmpath.router.config.YamlReader;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The clients that may use the router, by the hashes of their keys, as a file names them. The file
 * is read again when it changes.
 *
 * <p>Thread-safe.
 */
public final class ApiKeys {

  /*
   * A key is found by the first eight bytes of its hash, in a table, and the whole hashes are
   * compared without regard to where they differ. How long that takes depends on the hash of what a client
   * sent, which says nothing about the keys that there are.
   */

  private static final String CONFIG_KEY = "auth.keys-file";

  @SuppressWarnings("ArrayRecordComponent") // never compared as a record
  private record Entry(byte[] hash, ClientAccount client) {}

  private final LongSupplier nanoClock;
  private volatile Map<String, ClientAccount> clients = Map.of();
  private volatile Map<Long, List<Entry>> entries = Map.of();

  private ApiKeys(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * Reads the file, now and when it changes.
   *
   * @throws IOException if it cannot be used; the message says why
   */
  public static ApiKeys begin(Path file, FileWatch watch, LongSupplier nanoClock)
      throws IOException {
    ApiKeys keys = new ApiKeys(nanoClock);
    watch.add(CONFIG_KEY, List.of(file), contents -> keys.load(file, contents.get(0)));
    return keys;
  }

  private void load(Path file, byte[] contents) throws IOException {
    try {
      String name = file.toString();
      take(ApiKeyFile.parse(YamlReader.text(contents, name), name));
    } catch (ConfigException e) {
      throw new IOException(String.join("; ", e.problems()), e);
    }
  }

  private void take(ApiKeyFile file) {
    long now = nanoClock.getAsLong();
    Map<String, ClientAccount> known = clients;
    Map<String, ClientAccount> byName = new HashMap<>();
    Map<Long, List<Entry>> byHash = new HashMap<>();
    for (ApiKeyConfig key : file.keys()) {
      ClientAccount client = known.get(key.name());
      if (client == null) {
        client = new ClientAccount(key, now);
      } else {
        client.change(key, now);
      }
      byName.put(key.name(), client);
      for (String hash : key.sha256()) {
        Entry entry = new Entry(HexFormat.of().parseHex(hash), client);
        byHash.merge(beginning(entry.hash), List.of(entry), ApiKeys::joined);
      }
    }
    entries = byHash;
    clients = byName;
  }

  private static List<Entry> joined(List<Entry> some, List<Entry> others) {
    return Stream.concat(some.stream(), others.stream()).toList();
  }

  private static long beginning(byte[] hash) {
    return ByteBuffer.wrap(hash).getLong();
  }

  /** The client with this key; null if nobody has it. */
  public @Nullable ClientAccount find(@Nullable String key) {
    if (key == null) {
      return null;
    }
    byte[] hash = Secrets.sha256(key);
    ClientAccount found = null;
    for (Entry entry : entries.getOrDefault(beginning(hash), List.of())) {
      found = MessageDigest.isEqual(entry.hash, hash) ? entry.client : found;
    }
    return found;
  }

  /** The clients now. */
  public Collection<ClientAccount> clients() {
    return clients.values();
  }

  /** What each client has used, for a scrape. */
  public void collect(MetricValues to) {
    for (ClientAccount client : clients()) {
      String name = client.name();
      ClientAccount.Counts counts = client.counts();
      to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.admitted(), name, "admitted");
      to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.tooManyRequests(), name, "too_many_requests");
      to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.tooManyTokens(), name, "too_many_tokens");
      to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.modelForbidden(), name, "model_forbidden");
      to.add(Metric.CLIENT_TOKENS_TOTAL, counts.promptTokens(), name, "prompt");
      to.add(Metric.CLIENT_TOKENS_TOTAL, counts.answerTokens(), name, "answer");
    }
  }

  /**
   * The file of API keys.
   *
   * <p>Immutable.
   */
  public record ApiKeyFile(List<ApiKeyConfig> keys) {

    /** Each name is a metric label. */
    private static final int MOST_NAMES = 10_000;

    public ApiKeyFile {
      keys = List.copyOf(keys);
      if (keys.size() > MOST_NAMES) {
        throw new IllegalArgumentException("'keys' has more than " + MOST_NAMES + " entries");
      }
      Set<String> seen = new HashSet<>();
      for (ApiKeyConfig key : keys) {
        if (!seen.add(key.name())) {
          throw new IllegalArgumentException("'keys': name '" + key.name() + "' is given twice");
        }
        for (String hash : key.sha256()) {
          if (!seen.add(hash)) {
            throw new IllegalArgumentException(
                "'keys': '" + key.name() + "' has a hash that is given twice");
          }
        }
      }
    }

    /**
     * Reads the file's text.
     *
     * @param file what errors call it
     */
    public static ApiKeyFile parse(String yaml, String file) throws ConfigException {
      Mapping given = YamlReader.read(yaml, file);
      if (given.given("keys") == null) {
        throw new ConfigException(file, "'keys' is missing; keys: [] admits nobody");
      }
      return ConfigReader.read(ApiKeyFile.class, given);
    }
  }

  /**
   * One client of the file of API keys.
   *
   * <p>Immutable.
   */
  public record ApiKeyConfig(
      @Key(required = true) String name,
      @Key(required = true) List<String> sha256,
      @Key List<String> models,
      @Key(defaultValue = "0", min = -1_000_000, max = 1_000_000) int priority,
      @Key(defaultValue = "0", max = 1_000_000_000) int requestsPerMinute,
      @Key(defaultValue = "0", max = 2_000_000_000) int tokensPerMinute) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");

    public ApiKeyConfig {
      sha256 = List.copyOf(sha256);
      models = List.copyOf(models);
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "'name' must be letters, digits, '.', '_', '-', at most 63");
      }
      if (sha256.isEmpty()) {
        throw new IllegalArgumentException("'sha256' of '" + name + "' has no hash");
      }
      if (!sha256.stream().allMatch(hash -> HASH.matcher(hash).matches())) {
        throw new IllegalArgumentException(
            "'sha256' of '" + name + "' must be 64 hexadecimal digits in lower case");
      }
    }
  }
}
