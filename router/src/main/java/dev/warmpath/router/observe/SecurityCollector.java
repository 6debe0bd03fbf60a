package dev.warmpath.router.observe;

import dev.warmpath.router.auth.ApiKeys;
import dev.warmpath.router.auth.Client;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.tls.ServerTls;
import dev.warmpath.router.watch.FileWatch;
import dev.warmpath.router.watch.WatchedFile;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads what clients with API keys have used, and how the files of keys and certificates stand,
 * when a scrape asks for it.
 *
 * <p>Thread-safe.
 */
public final class SecurityCollector {

  private final FileWatch files;
  private final @Nullable ApiKeys keys;
  private final List<ServerTls> certificates;

  /**
   * Reads these.
   *
   * @param keys null if clients need none
   */
  public SecurityCollector(FileWatch files, @Nullable ApiKeys keys, List<ServerTls> certificates) {
    this.files = files;
    this.keys = keys;
    this.certificates = certificates;
  }

  public void collect(MetricValues to) {
    if (keys != null) {
      keys.clients().forEach(client -> client(to, client.name(), client.counts()));
    }
    files.status().forEach(file -> file(to, file));
    for (ServerTls tls : certificates) {
      to.add(Metric.CERTIFICATE_EXPIRY_SECONDS, tls.expires().getEpochSecond(), tls.name());
    }
  }

  private static void client(MetricValues to, String name, Client.Counts counts) {
    to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.admitted(), name, "admitted");
    to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.tooManyRequests(), name, "too_many_requests");
    to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.tooManyTokens(), name, "too_many_tokens");
    to.add(Metric.CLIENT_REQUESTS_TOTAL, counts.modelForbidden(), name, "model_forbidden");
    to.add(Metric.CLIENT_TOKENS_TOTAL, counts.promptTokens(), name, "prompt");
    to.add(Metric.CLIENT_TOKENS_TOTAL, counts.answerTokens(), name, "answer");
  }

  private static void file(MetricValues to, WatchedFile file) {
    to.add(Metric.WATCHED_FILE_STALE, file.stale() ? 1 : 0, file.name());
    to.add(Metric.WATCHED_FILE_CHANGES_TOTAL, file.reloads(), file.name(), "read");
    to.add(Metric.WATCHED_FILE_CHANGES_TOTAL, file.failures(), file.name(), "failed");
  }
}
