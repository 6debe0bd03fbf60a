package dev.warmpath.router.members;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.xbill.DNS.AAAARecord;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.NameTooLongException;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.ResolverConfig;
import org.xbill.DNS.SRVRecord;
import org.xbill.DNS.Section;
import org.xbill.DNS.SimpleResolver;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/**
 * Asks DNS servers for addresses and SRV records, by UDP, and by TCP if the answer does not fit. An
 * answer without records is told from a failure; records are not remembered between two questions.
 *
 * <p>Confined to one thread.
 */
final class DnsClient {

  /*
   * A name that is not complete is tried in each search domain. A domain whose servers fail does
   * not end that: the name may be in the next one, as for the system's own resolver. But there are
   * "no records" only if nothing failed, and a domain in which the name was found before is not
   * passed over when it fails: a later one may have a wildcard.
   */

  private static final Duration TIMEOUT = Duration.ofMillis(1_500);
  private static final int ROUNDS = 2;

  /** In all search domains together, at all servers. */
  private static final long QUESTION_NANOS = TimeUnit.SECONDS.toNanos(20);

  /**
   * An answer.
   *
   * @param records of the type that was asked for
   * @param known IPv4 addresses of other names that the server added, by name
   * @param ttlSeconds the shortest of the records; 0 without records
   */
  record Answer<T>(List<T> records, Map<String, List<String>> known, long ttlSeconds) {}

  /** Where a service is offered; {@code target} ends with a dot. */
  record Service(String target, int port) {}

  /**
   * Where names that are not complete are looked for.
   *
   * @param domains one after the other
   * @param dots a name with so many is tried as it is first
   */
  record Search(List<Name> domains, int dots) {

    /** Names are taken as they are. */
    static final Search NONE = new Search(List.of(), 1);

    /** That of {@code resolv.conf}. */
    static Search ofTheSystem() {
      ResolverConfig config = ResolverConfig.getCurrentConfig();
      return new Search(config.searchPath(), config.ndots());
    }

    /** The full names to try one after the other. */
    List<Name> names(String name) throws IOException {
      try {
        Name relative = Name.fromString(name);
        List<Name> names = new ArrayList<>();
        if (relative.isAbsolute()) {
          return List.of(relative);
        }
        for (Name domain : domains) {
          addIfShort(names, relative, domain);
        }
        boolean isTriedFirst = relative.labels() - 1 >= dots;
        names.add(isTriedFirst ? 0 : names.size(), Name.concatenate(relative, Name.root));
        return names;
      } catch (TextParseException | NameTooLongException e) {
        throw new IOException(name + ": is no name of DNS: " + e.getMessage(), e);
      }
    }

    private static void addIfShort(List<Name> names, Name relative, Name domain) {
      try {
        names.add(Name.concatenate(relative, domain));
      } catch (NameTooLongException e) {
        // there is no such name
      }
    }
  }

  private final List<SimpleResolver> servers = new ArrayList<>();
  private final Search search;

  /** Where each name was found last; a source asks for one name. */
  private final Map<String, Name> foundAt = new HashMap<>();

  /** The server that answered last, which is asked first. */
  private int first;

  /**
   * @param server the server to ask; null for those of the system
   */
  DnsClient(@Nullable InetSocketAddress server, Search search) {
    this(server == null ? ResolverConfig.getCurrentConfig().servers() : List.of(server), search);
  }

  /**
   * @param addresses of servers that know the same
   */
  DnsClient(List<InetSocketAddress> addresses, Search search) {
    this.search = search;
    for (InetSocketAddress address : addresses) {
      SimpleResolver resolver = new SimpleResolver(address);
      resolver.setTimeout(TIMEOUT);
      servers.add(resolver);
    }
  }

  /**
   * The IPv4 addresses of a name, or its IPv6 addresses if there are none.
   *
   * @throws IOException if that cannot be known now
   */
  Answer<String> addresses(String name) throws IOException {
    Answer<String> v4 = addresses(name, Type.A);
    return v4.records().isEmpty() ? addresses(name, Type.AAAA) : v4;
  }

  private Answer<String> addresses(String name, int type) throws IOException {
    Answer<Record> answer = ask(name, type);
    return new Answer<>(
        answer.records().stream().map(DnsClient::address).toList(),
        answer.known(),
        answer.ttlSeconds());
  }

  /** The SRV records of a name, whatever their priority and weight. */
  Answer<Service> services(String name) throws IOException {
    Answer<Record> answer = ask(name, Type.SRV);
    List<Service> services =
        answer.records().stream()
            .map(found -> (SRVRecord) found)
            .map(found -> new Service(text(found.getTarget()), found.getPort()))
            .toList();
    return new Answer<>(services, answer.known(), answer.ttlSeconds());
  }

  /** Asks for the name in each of its full forms until there is one that has such records. */
  private Answer<Record> ask(String name, int type) throws IOException {
    long deadline = System.nanoTime() + QUESTION_NANOS;
    String question = name + " " + Type.string(type);
    IOException failure = null;
    for (Name full : search.names(name)) {
      try {
        Answer<Record> answer = askServers(full, type, deadline);
        if (!answer.records().isEmpty()) {
          if (!full.toString().equals(name)) {
            foundAt.put(question, full);
          }
          return answer;
        }
      } catch (IOException e) {
        if (full.equals(foundAt.get(question))) {
          throw e;
        }
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return new Answer<>(List.of(), Map.of(), 0);
  }

  /** The answer of the first server that has one. */
  private Answer<Record> askServers(Name name, int type, long deadline) throws IOException {
    String question = text(name) + " " + Type.string(type);
    IOException failure = new IOException(question + ": there is no DNS server");
    for (int tried = 0; tried < ROUNDS * servers.size(); tried++) {
      if (System.nanoTime() - deadline > 0) {
        break;
      }
      int server = (first + tried % servers.size()) % servers.size();
      try {
        Answer<Record> answer = read(send(servers.get(server), name, type), question, type);
        first = server;
        return answer;
      } catch (IOException e) {
        failure = e;
      }
    }
    throw failure;
  }

  private static Message send(SimpleResolver server, Name name, int type) throws IOException {
    try {
      return server.send(Message.newQuery(Record.newRecord(name, type, DClass.IN)));
    } catch (IOException e) {
      throw new IOException(
          "%s %s: no answer of %s: %s"
              .formatted(
                  text(name),
                  Type.string(type),
                  server.getAddress(),
                  e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage()),
          e);
    }
  }

  private static Answer<Record> read(Message response, String question, int type)
      throws IOException {
    int code = response.getRcode();
    boolean isAnswer = code == Rcode.NOERROR || code == Rcode.NXDOMAIN;
    if (!isAnswer || response.getHeader().getFlag(Flags.TC)) {
      throw new IOException(
          question + ": " + (isAnswer ? "the answer is cut off" : Rcode.string(code)));
    }
    List<Record> records = records(response, Section.ANSWER, type);
    long ttl = records.stream().mapToLong(Record::getTTL).min().orElse(0);
    Map<String, List<String>> known = new HashMap<>();
    for (Record found : records(response, Section.ADDITIONAL, Type.A)) {
      known.computeIfAbsent(text(found.getName()), name -> new ArrayList<>()).add(address(found));
    }
    return new Answer<>(records, known, ttl);
  }

  private static List<Record> records(Message response, int section, int type) {
    return response.getSection(section).stream().filter(found -> found.getType() == type).toList();
  }

  private static String address(Record found) {
    InetAddress address =
        found instanceof ARecord v4 ? v4.getAddress() : ((AAAARecord) found).getAddress();
    return address.getHostAddress();
  }

  private static String text(Name name) {
    return name.toString().toLowerCase(Locale.ROOT);
  }
}
