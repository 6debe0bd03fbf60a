package dev.warmpath.router.members;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DefaultDnsResponse;
import io.netty.handler.codec.dns.DnsQuery;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponse;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.handler.codec.dns.TcpDnsQueryDecoder;
import io.netty.handler.codec.dns.TcpDnsResponseEncoder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A DNS server on loopback, by UDP and TCP, that answers as its fields say. */
final class DnsServer implements AutoCloseable {

  /** Records by name, which ends with a dot; a name that is not there is NXDOMAIN. */
  final Map<String, List<DnsRecord>> zone = new ConcurrentHashMap<>();

  /** Records that go with every answer that has some. */
  final List<DnsRecord> additional = new CopyOnWriteArrayList<>();

  /** Questions in the order in which they came: {@code name TYPE}, or {@code tcp name TYPE}. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  /** Of single names. */
  final Map<String, DnsResponseCode> failures = new ConcurrentHashMap<>();

  /** Of all others. */
  volatile DnsResponseCode failure = DnsResponseCode.NOERROR;

  volatile boolean silent;
  volatile boolean cutsOff;

  private static final int TRIES = 50;

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Channel udp;
  private final Channel tcp;

  DnsServer() {
    // A port that is free for UDP may be in use for TCP, so another one is tried.
    for (int tried = 1; ; tried++) {
      Channel datagrams = bindUdp();
      ChannelFuture stream = bindTcp(port(datagrams));
      if (stream.isSuccess()) {
        udp = datagrams;
        tcp = stream.channel();
        return;
      }
      datagrams.close().syncUninterruptibly();
      if (tried == TRIES) {
        throw new IllegalStateException(stream.cause());
      }
    }
  }

  private Channel bindUdp() {
    return new Bootstrap()
        .group(loop)
        .channel(NioDatagramChannel.class)
        .handler(initializer(new DatagramDnsQueryDecoder(), new DatagramDnsResponseEncoder()))
        .bind("127.0.0.1", 0)
        .syncUninterruptibly()
        .channel();
  }

  private ChannelFuture bindTcp(int port) {
    return new ServerBootstrap()
        .group(loop)
        .channel(NioServerSocketChannel.class)
        .childHandler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(new TcpDnsQueryDecoder(), new TcpDnsResponseEncoder(), handler());
              }
            })
        .bind("127.0.0.1", port)
        .awaitUninterruptibly();
  }

  private ChannelInitializer<Channel> initializer(
      DatagramDnsQueryDecoder decoder, DatagramDnsResponseEncoder encoder) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel.pipeline().addLast(decoder, encoder, handler());
      }
    };
  }

  private SimpleChannelInboundHandler<DnsQuery> handler() {
    return new SimpleChannelInboundHandler<>() {
      @Override
      protected void channelRead0(ChannelHandlerContext context, DnsQuery query) {
        DnsServer.this.answer(context, query);
      }
    };
  }

  int port() {
    return port(udp);
  }

  private static int port(Channel channel) {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  String address() {
    return "127.0.0.1:" + port();
  }

  private void answer(ChannelHandlerContext context, DnsQuery query) {
    DnsQuestion question = query.recordAt(DnsSection.QUESTION);
    boolean isUdp = query instanceof DatagramDnsQuery;
    asked.add((isUdp ? "" : "tcp ") + question.name() + " " + question.type().name());
    if (silent) {
      return;
    }
    DnsResponse response =
        query instanceof DatagramDnsQuery datagram
            ? new DatagramDnsResponse(datagram.recipient(), datagram.sender(), query.id())
            : new DefaultDnsResponse(query.id());
    response.addRecord(
        DnsSection.QUESTION, new DefaultDnsQuestion(question.name(), question.type()));
    DnsResponseCode code = failures.getOrDefault(question.name(), failure);
    if (!code.equals(DnsResponseCode.NOERROR)) {
      response.setCode(code);
    } else if (cutsOff && isUdp) {
      response.setTruncated(true);
    } else {
      fill(response, question);
    }
    context.writeAndFlush(response);
  }

  private void fill(DnsResponse response, DnsQuestion question) {
    List<DnsRecord> records = zone.get(question.name());
    if (records == null) {
      response.setCode(DnsResponseCode.NXDOMAIN);
      return;
    }
    List<DnsRecord> matching = new ArrayList<>(records);
    matching.removeIf(found ->
        !found.type().equals(question.type()) && !found.type().equals(DnsRecordType.CNAME));
    matching.forEach(found -> response.addRecord(DnsSection.ANSWER, copy(found)));
    if (!matching.isEmpty()) {
      additional.forEach(found -> response.addRecord(DnsSection.ADDITIONAL, copy(found)));
    }
  }

  private static DnsRecord copy(DnsRecord found) {
    return ((DefaultDnsRawRecord) found).copy();
  }

  /** An A or AAAA record. */
  static DnsRecord address(String name, String address, int ttlSeconds) {
    try {
      byte[] bytes = InetAddress.getByName(address).getAddress();
      DnsRecordType type = bytes.length == 4 ? DnsRecordType.A : DnsRecordType.AAAA;
      return new DefaultDnsRawRecord(name, type, ttlSeconds, Unpooled.wrappedBuffer(bytes));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }

  static DnsRecord service(String name, String target, int port, int ttlSeconds) {
    ByteBuf content = Unpooled.buffer().writeShort(0).writeShort(100).writeShort(port);
    for (String label : target.split("\\.")) {
      content.writeByte(label.length()).writeCharSequence(label, StandardCharsets.US_ASCII);
    }
    return new DefaultDnsRawRecord(name, DnsRecordType.SRV, ttlSeconds, content.writeByte(0));
  }

  @Override
  public void close() {
    udp.close().syncUninterruptibly();
    tcp.close().syncUninterruptibly();
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
