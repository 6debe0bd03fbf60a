package dev.warmpath.router.proxy;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.ClientOptionsBase;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.spi.transport.Transport;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;

/**
 * A transport of Vert.x whose servers show each connection when it is accepted. Vert.x itself shows
 * one after its TLS handshake, and where it may speak HTTP/2, after its first bytes.
 *
 * <p>Thread-safe.
 */
public final class AcceptTransport implements io.vertx.core.transport.Transport {

  private final io.vertx.core.transport.Transport used;
  private final Function<NetServerOptions, ClientConnections> connections;

  /**
   * The best transport that this system has.
   *
   * @param connections those of a server, by its options
   */
  public AcceptTransport(Function<NetServerOptions, ClientConnections> connections) {
    io.vertx.core.transport.Transport best = io.vertx.core.transport.Transport.nativeTransport();
    this.used = best != null && best.available() ? best : io.vertx.core.transport.Transport.NIO;
    this.connections = connections;
  }

  @Override
  public String name() {
    return used.name();
  }

  @Override
  public boolean available() {
    return true;
  }

  @Override
  public Throwable unavailabilityCause() {
    return used.unavailabilityCause();
  }

  @Override
  public Transport implementation() {
    return new Accepting(used.implementation());
  }

  /** Hands each accepted connection to its server's connections, and then on if they keep it. */
  @ChannelHandler.Sharable
  private static final class Accepts extends ChannelInboundHandlerAdapter {
    private final ClientConnections connections;

    Accepts(ClientConnections connections) {
      this.connections = connections;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object accepted) {
      if (connections.accept((Channel) accepted)) {
        context.fireChannelRead(accepted);
      }
    }
  }

  /** The transport that is used, but for what servers do. */
  private final class Accepting implements Transport {
    private final Transport transport;

    Accepting(Transport transport) {
      this.transport = transport;
    }

    @Override
    public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap server) {
      transport.configure(options, domainSocket, server);
      server.handler(new Accepts(connections.apply(options)));
      // of TLS, the end of what a client sends is the end of the connection
      server.childOption(ChannelOption.ALLOW_HALF_CLOSURE, !options.isSsl());
    }

    @Override
    public boolean supportsDomainSockets() {
      return transport.supportsDomainSockets();
    }

    @Override
    public boolean supportFileRegion() {
      return transport.supportFileRegion();
    }

    @Override
    public java.net.SocketAddress convert(SocketAddress address) {
      return transport.convert(address);
    }

    @Override
    public SocketAddress convert(java.net.SocketAddress address) {
      return transport.convert(address);
    }

    @Override
    public IoHandlerFactory ioHandlerFactory() {
      return transport.ioHandlerFactory();
    }

    @Override
    public EventLoopGroup eventLoopGroup(int type, int threads, ThreadFactory factory, int ratio) {
      return transport.eventLoopGroup(type, threads, factory, ratio);
    }

    @Override
    public DatagramChannel datagramChannel() {
      return transport.datagramChannel();
    }

    @Override
    @SuppressWarnings("deprecation")
    public DatagramChannel datagramChannel(io.netty.channel.socket.InternetProtocolFamily family) {
      return transport.datagramChannel(family);
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
      return transport.channelFactory(domainSocket);
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
      return transport.serverChannelFactory(domainSocket);
    }

    @Override
    public void configure(DatagramChannel channel, DatagramSocketOptions options) {
      transport.configure(channel, options);
    }

    @Override
    public void configure(
        ClientOptionsBase options, int connectMs, boolean domainSocket, Bootstrap client) {
      transport.configure(options, connectMs, domainSocket, client);
    }
  }
}
