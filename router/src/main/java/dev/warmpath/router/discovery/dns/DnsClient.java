package dev.warmpath.router.discovery.dns;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DefaultDnsRecordDecoder;
import io.netty.handler.codec.dns.DnsRawRecord;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponse;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks DNS servers for addresses and SRV records, by UDP, and by TCP if the answer does not fit. An
 * answer without records is told from a failure; nothing is remembered between two questions.
 *
 * <p>Confined to one thread, but for {@link #close}.
 */
final class DnsClient implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 3_000;
  private static final int PATIENCE_MILLIS = 3 * TIMEOUT_MILLIS;

  /**
   * An answer.
   *
   * @param records of the type that was asked for
   * @param known addresses of other names that the server added, by name
   * @param ttlSeconds the shortest of the records; 0 without records
   */
  record Answer<T>(List<T> records, Map<String, List<String>> known, long ttlSeconds) {}

  /** Where a service is offered; {@code target} ends with a dot. */
  record Service(String target, int port) {}

  private interface Content<T> {
    T read(ByteBuf content) throws IOException;
  }

  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("warmpath-dns", true), NioIoHandler.newFactory());
  private final DnsNameResolver resolver;
  private final SearchPath search;

  /**
   * @param server the server to ask; null for those of the system
   */
  DnsClient(@Nullable InetSocketAddress server, SearchPath search) {
    this.search = search;
    this.resolver =
        new DnsNameResolverBuilder(loop.next())
            .datagramChannelType(NioDatagramChannel.class)
            .socketChannelType(NioSocketChannel.class)
            .nameServerProvider(servers(server))
            .queryTimeoutMillis(TIMEOUT_MILLIS)
            .build();
  }

  private static DnsServerAddressStreamProvider servers(@Nullable InetSocketAddress server) {
    return server == null
        ? DnsServerAddressStreamProviders.platformDefault()
        : new SingletonDnsServerAddressStreamProvider(server);
  }

  /**
   * The IPv4 addresses of a name, or its IPv6 addresses if there are none.
   *
   * @throws IOException if that cannot be known now
   */
  Answer<String> addresses(String name) throws IOException {
    Answer<String> v4 = ask(name, DnsRecordType.A, DnsClient::address);
    return v4.records().isEmpty() ? ask(name, DnsRecordType.AAAA, DnsClient::address) : v4;
  }

  /** The SRV records of a name, whatever their priority and weight. */
  Answer<Service> services(String name) throws IOException {
    return ask(name, DnsRecordType.SRV, DnsClient::service);
  }

  /** Asks for the name in each of its full forms until there is one that has such records. */
  private <T> Answer<T> ask(String name, DnsRecordType type, Content<T> content)
      throws IOException {
    Answer<T> answer = new Answer<>(List.of(), Map.of(), 0);
    for (String full : search.names(name)) {
      answer = askOnce(full, type, content);
      if (!answer.records().isEmpty()) {
        break;
      }
    }
    return answer;
  }

  private <T> Answer<T> askOnce(String name, DnsRecordType type, Content<T> content)
      throws IOException {
    String question = name + " " + type.name();
    AddressedEnvelope<DnsResponse, InetSocketAddress> envelope;
    try {
      envelope =
          resolver
              .query(new DefaultDnsQuestion(name, type))
              .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(question + ": interrupted", e);
    } catch (Exception e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(question + ": no answer: " + cause.getMessage(), e);
    }
    try {
      return read(envelope.content(), question, type, content);
    } finally {
      envelope.release();
    }
  }

  private static <T> Answer<T> read(
      DnsResponse response, String question, DnsRecordType type, Content<T> content)
      throws IOException {
    boolean isAnswer =
        response.code().equals(DnsResponseCode.NOERROR)
            || response.code().equals(DnsResponseCode.NXDOMAIN);
    if (!isAnswer || response.isTruncated()) {
      String why = isAnswer ? "the answer is cut off" : response.code().toString();
      throw new IOException(question + ": " + why);
    }
    List<T> records = new ArrayList<>();
    long ttl = Long.MAX_VALUE;
    for (DnsRawRecord found : records(response, DnsSection.ANSWER, type)) {
      records.add(content.read(found.content().duplicate()));
      ttl = Math.min(ttl, found.timeToLive());
    }
    return new Answer<>(records, known(response), records.isEmpty() ? 0 : ttl);
  }

  private static Map<String, List<String>> known(DnsResponse response) throws IOException {
    Map<String, List<String>> known = new HashMap<>();
    for (DnsRawRecord found : records(response, DnsSection.ADDITIONAL, DnsRecordType.A)) {
      known
          .computeIfAbsent(found.name().toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(address(found.content().duplicate()));
    }
    return known;
  }

  private static List<DnsRawRecord> records(
      DnsResponse response, DnsSection section, DnsRecordType type) {
    List<DnsRawRecord> records = new ArrayList<>();
    for (int i = 0; i < response.count(section); i++) {
      DnsRecord found = response.recordAt(section, i);
      if (found.type().equals(type) && found instanceof DnsRawRecord raw) {
        records.add(raw);
      }
    }
    return records;
  }

  private static String address(ByteBuf content) throws IOException {
    return InetAddress.getByAddress(ByteBufUtil.getBytes(content)).getHostAddress();
  }

  private static Service service(ByteBuf content) throws IOException {
    if (content.readableBytes() < 7) {
      throw new IOException("an SRV record is too short");
    }
    content.skipBytes(2 * Short.BYTES);
    int port = content.readUnsignedShort();
    String target = DefaultDnsRecordDecoder.decodeName(content);
    return new Service(target.toLowerCase(Locale.ROOT), port);
  }

  @Override
  public void close() {
    resolver.close();
    var unused = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
