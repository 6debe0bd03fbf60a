package dev.warmpath.router.members;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.FileContents;
import dev.warmpath.router.config.YamlReader;
import dev.warmpath.router.members.DnsClient.Answer;
import dev.warmpath.router.members.DnsClient.Search;
import dev.warmpath.router.members.DnsClient.Service;
import dev.warmpath.router.prompt.InferenceRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One way to find replicas: a file, DNS, an orchestrator. {@link ReplicaSource} decides when to
 * look.
 *
 * <p>Confined to the thread of its source, but for {@link #close}.
 */
public interface Look extends AutoCloseable {

  /**
   * What looks where {@code source} says.
   *
   * @param rules takes what stands there beside the replicas
   */
  static Look of(DiscoveryConfig source, InferenceRules rules) {
    return switch (source.kind()) {
      case FILE -> new FileLook(Path.of(String.valueOf(source.file())));
      case DNS -> new DnsLook(source);
      case KUBERNETES -> new KubernetesLook(source);
      case INFERENCE_POOL -> new InferencePoolLook(source, rules);
    };
  }

  /**
   * Looks once, in bounded time.
   *
   * @throws IOException if what there is now cannot be known; its message says why
   */
  Found look() throws IOException;

  /** Takes what is to be run, by any thread, when there may be something new. */
  default void onChange(Runnable wake) {}

  /**
   * The replicas are worth so much now; called by one thread, which may be another than the one
   * that looks, and does not wait.
   *
   * @param seconds by replica
   */
  default void worth(Map<String, Double> seconds) {}

  /** Lets go of what looking needs; a look that runs may fail. */
  @Override
  default void close() {}

  /**
   * Finds the replicas that a file lists.
   *
   * <p>Confined to the thread of its source.
   */
  static final class FileLook implements Look {

    private final Path file;
    private final FileContents contents;
    private @Nullable Found found;

    FileLook(Path file) {
      this.file = file;
      this.contents = new FileContents(List.of(file));
    }

    @Override
    public Found look() throws IOException {
      var unused = contents.look(now -> found = parsed(now.get(0)));
      if (found == null) {
        throw new IOException(file + ": is being written");
      }
      return found;
    }

    private Found parsed(byte[] bytes) throws IOException {
      try {
        String name = file.toString();
        Found found = new Found();
        ConfigTree.replicas(YamlReader.text(bytes, name), name).forEach(found::add);
        return found;
      } catch (ConfigException e) {
        throw new IOException(String.join("; ", e.problems()), e);
      }
    }
  }

  /**
   * Finds a replica behind each address of a name, or behind each of its SRV records. Replicas
   * leave with an answer that lacks them; all of them leave only after several empty answers in a
   * row, as a server that has just started has empty answers too.
   *
   * <p>Confined to the thread of its source.
   */
  static final class DnsLook implements Look {

    private final DiscoveryConfig config;
    private final DnsClient dns;
    private boolean hadAddresses;
    private int emptyLooks;

    DnsLook(DiscoveryConfig config) {
      this(config, Search.ofTheSystem());
    }

    DnsLook(DiscoveryConfig config, Search search) {
      this.config = config;
      this.dns = new DnsClient(server(config.server()), search);
    }

    private static @Nullable InetSocketAddress server(@Nullable String server) {
      if (server == null) {
        return null;
      }
      int colon = server.lastIndexOf(':');
      String host = server.substring(0, colon).replaceAll("[\\[\\]]", "");
      return new InetSocketAddress(host, Integer.parseInt(server.substring(colon + 1)));
    }

    @Override
    public Found look() throws IOException {
      Found found = new Found();
      String srv = config.srv();
      long ttlSeconds =
          srv == null ? addHosts(found, String.valueOf(config.host())) : addServices(found, srv);
      checkEmpty(found.isEmpty());
      found.validMillis(TimeUnit.SECONDS.toMillis(ttlSeconds));
      return found;
    }

    private long addHosts(Found found, String name) throws IOException {
      Answer<String> answer = dns.addresses(name);
      answer.records().stream()
          .distinct()
          .sorted()
          .forEach(host -> found.add(config.replica(), null, host, config.port(), Map.of()));
      return answer.ttlSeconds();
    }

    /** A replica is named as its target is within its domain. */
    private long addServices(Found found, String name) throws IOException {
      Answer<Service> answer = dns.services(name);
      List<Service> services =
          answer.records().stream()
              .sorted(Comparator.comparing(Service::target).thenComparingInt(Service::port))
              .toList();
      for (Service service : services) {
        List<String> hosts = answer.known().get(service.target());
        if (hosts == null) {
          hosts = dns.addresses(service.target()).records();
        }
        String label = service.target().split("\\.", 2)[0];
        hosts.stream()
            .sorted()
            .limit(1)
            .forEach(host -> found.add(config.replica(), label, host, service.port(), Map.of()));
      }
      return answer.ttlSeconds();
    }

    private void checkEmpty(boolean isEmpty) throws IOException {
      emptyLooks = isEmpty ? emptyLooks + 1 : 0;
      if (isEmpty && hadAddresses && emptyLooks < config.emptyLooks()) {
        throw new IOException(
            "no address in %d answers in a row; its replicas leave after %d"
                .formatted(emptyLooks, config.emptyLooks()));
      }
      hadAddresses = !isEmpty;
    }
  }
}
