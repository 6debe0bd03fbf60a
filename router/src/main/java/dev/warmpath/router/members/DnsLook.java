package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.members.DnsClient.Answer;
import dev.warmpath.router.members.DnsClient.Search;
import dev.warmpath.router.members.DnsClient.Service;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds a replica behind each address of a name, or behind each of its SRV records. Replicas leave
 * with an answer that lacks them; all of them leave only after several empty answers in a row, as a
 * server that has just started has empty answers too.
 *
 * <p>Confined to the thread of its source.
 */
final class DnsLook implements Look {

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
