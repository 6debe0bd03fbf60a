package dev.warmpath.router.proxy;

import static io.netty.handler.codec.http.HttpVersion.HTTP_1_0;
import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import dev.warmpath.router.config.RouterConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections that clients have open on one port, on all event loops, from their acceptance to
 * their end: those beyond a number are closed at once, and so are those on which no request's head
 * comes in time, whatever else they wait for, such as a TLS handshake.
 *
 * <p>Thread-safe; what concerns one connection is confined to its event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a close that fails has no one to tell
public final class ClientConnections {

  private static final Logger LOG = LoggerFactory.getLogger(ClientConnections.class);
  private static final AttributeKey<Connection> KEY = AttributeKey.valueOf(Connection.class, "own");

  private static final int LOOKS_A_TIMEOUT = 4;
  private static final long SHORTEST_LOOK_MS = 5;
  private static final long LONGEST_LOOK_MS = 1_000;

  /** Longer than the way to a client and back. */
  private static final long LAST_REQUESTS_MS = 1_000;

  private static final int NO_ERROR = 0;
  private static final int ENHANCE_YOUR_CALM = 11;

  /** What every connection of HTTP/2 begins with, as far as it tells it from HTTP/1.1. */
  private static final byte[] PREFACE = "PRI * HTTP/2".getBytes(StandardCharsets.US_ASCII);

  /** Empty settings, which come first, and GOAWAY before any stream (RFC 9113, 6.5 and 6.8). */
  private static final byte[] CALM_DOWN =
      HexFormat.of().parseHex("000000040000000000" + "000008070000000000" + "000000000000000b");

  /**
   * What is read at once of what has come, as it can be a thousand requests that are taken back.
   */
  private static final int PIECE_BYTES = 1 << 13;

  /**
   * Above so many that are new and not read from yet, those whose clients have left are not begun.
   */
  private static final int MOST_UNREAD = 256;

  /** One from which nothing has come for so long keeps silent; it does not wait to be read. */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** States of a connection in Linux' {@code tcp_states.h}. */
  private static final int CLOSE = 7;

  private static final int CLOSE_WAIT = 8;

  /** Why the router closed a connection. */
  public enum Closed {
    /** There were too many. */
    LIMIT,
    /** No request's head came in time. */
    IDLE,
    /** The client broke it off, left before the router came to it, or sent what cannot be read. */
    BROKEN,
    /** Its client took too many requests back. */
    RESETS;

    /** The name in metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final IntSupplier limit;
  private final Supplier<RouterConfig.Timeouts> timeouts;
  private final LongSupplier nanoClock;
  private final BooleanSupplier closing;
  private final ResetBudget resets;
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicInteger unread = new AtomicInteger();
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private final Map<Closed, LongAdder> closed = new EnumMap<>(Closed.class);

  /**
   * No connections yet.
   *
   * @param limit how many may be open
   * @param closing whether requests on connections that are new from now on are refused
   * @param resets how many requests a client may take back
   */
  public ClientConnections(
      IntSupplier limit,
      Supplier<RouterConfig.Timeouts> timeouts,
      LongSupplier nanoClock,
      BooleanSupplier closing,
      IntSupplier resets) {
    this.limit = limit;
    this.timeouts = timeouts;
    this.nanoClock = nanoClock;
    this.closing = closing;
    this.resets = new ResetBudget(resets, nanoClock);
    for (Closed reason : Closed.values()) {
      closed.put(reason, new LongAdder());
    }
  }

  /**
   * A head of a version that is neither HTTP/1.0 nor HTTP/1.1; Vert.x would answer it bare, and
   * tell nobody.
   */
  public static final class VersionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    VersionException(String version) {
      super(version, null, false, false);
    }
  }

  /** Makes heads of other versions ones that cannot be read. */
  @ChannelHandler.Sharable
  private static final class Versions extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest head
          && head.decoderResult().isSuccess()
          && !head.protocolVersion().equals(HTTP_1_1)
          && !head.protocolVersion().equals(HTTP_1_0)) {
        head.setDecoderResult(
            DecoderResult.failure(new VersionException(head.protocolVersion().text())));
        head.setProtocolVersion(HTTP_1_1);
      }
      context.fireChannelRead(message);
    }
  }

  private static final Versions VERSIONS = new Versions();

  /** Reads what comes on a connection, whose protocol is known now, before Vert.x does. */
  public static void begin(HttpConnection connection) {
    ChannelHandlerContext vertx = ((ConnectionBase) connection).channelHandlerContext();
    if (vertx.pipeline().get(HttpRequestDecoder.class) != null) {
      vertx.pipeline().addBefore(vertx.name(), null, VERSIONS);
    }
  }

  /** Connections that are open. */
  public int open() {
    return count.get();
  }

  /** How many may be open. */
  public int limit() {
    return limit.getAsInt();
  }

  /** Connections that were closed for {@code reason}. */
  public long closed(Closed reason) {
    return adder(reason).sum();
  }

  private LongAdder adder(Closed reason) {
    return Objects.requireNonNull(closed.get(reason));
  }

  /** Takes in a connection that is new, before anything is read; false if it is closed instead. */
  boolean accept(Channel channel) {
    if (unread.get() >= MOST_UNREAD && hasLeft(channel)) {
      return refuse(channel, Closed.BROKEN);
    }
    if (count.incrementAndGet() > limit()) {
      count.decrementAndGet();
      return refuse(channel, Closed.LIMIT);
    }
    unread.incrementAndGet();
    Connection connection = new Connection(channel);
    channel.attr(KEY).set(connection);
    open.add(connection);
    channel
        .closeFuture()
        .addListener(end -> {
          open.remove(connection);
          count.decrementAndGet();
          connection.countRead();
        });
    channel.pipeline().addLast(connection);
    return true;
  }

  private boolean refuse(Channel channel, Closed reason) {
    adder(reason).increment();
    channel.unsafe().closeForcibly();
    return false;
  }

  /**
   * Whether the client has ended its side before anything was read. What it sent may still be a
   * request that it wants answered; but in a storm of connections that are opened and left, those
   * that stay would wait behind all the others.
   */
  private static boolean hasLeft(Channel channel) {
    if (channel instanceof EpollSocketChannel socket) {
      int state = socket.tcpInfo().state();
      return state == CLOSE_WAIT || state == CLOSE;
    }
    return false;
  }

  /**
   * Looks after the connections of the calling event loop from now on.
   *
   * @return the timer that does it
   */
  public long watch(Vertx vertx) {
    RouterConfig.Timeouts now = timeouts.get();
    long shortest = Math.min(now.requestHeadMs(), now.keepAliveMs()) / LOOKS_A_TIMEOUT;
    long every = Math.max(SHORTEST_LOOK_MS, Math.min(shortest, LONGEST_LOOK_MS));
    long late = TimeUnit.MILLISECONDS.toNanos(2 * every);
    AtomicLong lastNanos = new AtomicLong(nanoClock.getAsLong());
    return vertx.setPeriodic(
        every,
        id -> {
          long nanos = nanoClock.getAsLong();
          // After a standstill (SIGSTOP, a suspended machine) timers come before what has come to
          // the
          // sockets meanwhile: nobody was silent but this process.
          if (nanos - lastNanos.getAndSet(nanos) < late) {
            look(nanos);
          }
        });
  }

  private void look(long now) {
    for (Connection connection : open) {
      Channel channel = connection.channel;
      if (channel.isRegistered() && channel.eventLoop().inEventLoop()) {
        connection.look(now);
      }
    }
  }

  private static Connection of(HttpConnection connection) {
    return ((ConnectionBase) connection).channel().attr(KEY).get();
  }

  /** A request's head has come; false if its connection ends, and nothing is to be answered. */
  public boolean began(HttpServerRequest request) {
    Connection connection = of(request.connection());
    if (connection.ending || connection.last) {
      return false;
    }
    connection.began(request);
    return true;
  }

  /**
   * Whether the request's connection was opened while new ones were refused. One that was open
   * before was not told to go elsewhere, used or not.
   */
  public boolean isLate(HttpServerRequest request) {
    return of(request.connection()).late;
  }

  /**
   * Tells a client that speaks HTTP/2, once, to connect elsewhere for its next request.
   *
   * @param patienceMs for streams to end
   */
  public void leave(Vertx vertx, HttpServerRequest request, int patienceMs) {
    Connection connection = of(request.connection());
    if (!connection.leaving) {
      connection.leaving = true;
      HttpConnection leaving = request.connection();
      leaving.goAway(NO_ERROR, Integer.MAX_VALUE); // requests on their way are answered, too
      vertx.setTimer(
          LAST_REQUESTS_MS,
          id -> {
            if (connection.channel.isOpen()) {
              leaving.shutdown(patienceMs, TimeUnit.MILLISECONDS);
            }
          });
    }
  }

  /** Ends the request's connection; further requests that have come on it are not read. */
  public void end(HttpServerRequest request) {
    of(request.connection()).ending = true;
    request.connection().close();
  }

  /** Ends the request's connection when its response has ended. */
  public void endAfter(HttpServerRequest request) {
    of(request.connection()).last = true;
  }

  /** One connection; the first of its channel's handlers. Confined to its event loop. */
  private final class Connection extends ChannelDuplexHandler {

    /*
     * A client that closes its connection and one that only ends what it sends look the same: the
     * input ends. When a whole request has come and its response has not begun, the router goes on,
     * and finds out by interim responses: a client that is gone resets the connection, and the next
     * write fails. What is written of the response itself does the same later. In the middle of a
     * response, the end of the input is taken for the end of the client: a stream may be silent for
     * long, and its engine would work for nobody.
     */

    private static final long FIRST_PROBE_MS = 50;

    private final Channel channel;
    private long idleNanos = nanoClock.getAsLong();
    private long patienceNanos = TimeUnit.MILLISECONDS.toNanos(timeouts.get().requestHeadMs());
    private final boolean late = closing.getAsBoolean();
    private int requests;
    private boolean ending;
    private boolean leaving;
    private boolean last;
    private boolean inputEnded;
    private boolean read;

    /** The request whose head came last; null before the first. */
    private @Nullable HttpServerRequest newest;

    Connection(Channel channel) {
      this.channel = channel;
    }

    private void look(long nowNanos) {
      long idle = nowNanos - idleNanos;
      if (idle >= SILENT_NANOS) {
        countRead();
      }
      if (requests == 0 && idle >= patienceNanos) {
        close(Closed.IDLE);
      }
    }

    void close(Closed reason) {
      adder(reason).increment();
      channel.close();
    }

    void began(HttpServerRequest request) {
      requests++;
      newest = request;
      long beganNanos = nanoClock.getAsLong();
      request.response().endHandler(v -> ended(request, beganNanos));
    }

    private void countRead() {
      if (!read) {
        read = true;
        unread.decrementAndGet();
      }
    }

    /** A storm goes on with new connections; they are not worth the making of an HTTP/2 session. */
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (!read) {
        countRead();
        if (message instanceof ByteBuf bytes && isOfStorm(bytes)) {
          ending = true;
          adder(Closed.RESETS).increment();
          context
              .writeAndFlush(Unpooled.wrappedBuffer(CALM_DOWN))
              .addListener(ChannelFutureListener.CLOSE);
        }
      }
      if (message instanceof ByteBuf bytes && bytes.readableBytes() > PIECE_BYTES) {
        while (bytes.isReadable() && !ending) {
          int piece = Math.min(PIECE_BYTES, bytes.readableBytes());
          context.fireChannelRead(bytes.readRetainedSlice(piece));
        }
        bytes.release();
      } else if (ending) {
        ReferenceCountUtil.release(message);
      } else {
        context.fireChannelRead(message);
      }
    }

    private boolean isOfStorm(ByteBuf bytes) {
      return bytes.readableBytes() >= PREFACE.length
          && ByteBufUtil.equals(
              bytes, bytes.readerIndex(), Unpooled.wrappedBuffer(PREFACE), 0, PREFACE.length)
          && channel.remoteAddress() instanceof InetSocketAddress from
          && resets.isSpent(from.getAddress());
    }

    private void ended(HttpServerRequest request, long beganNanos) {
      requests--;
      idleNanos = nanoClock.getAsLong();
      patienceNanos = TimeUnit.MILLISECONDS.toNanos(timeouts.get().keepAliveMs());
      if (!request.response().headWritten()) {
        takenBack(request, idleNanos - beganNanos);
      }
      if (requests == 0 && (last || inputEnded)) {
        channel.eventLoop().execute(this::closeIfIdle); // another request may have come with it
      }
    }

    private void closeIfIdle() {
      if (last || requests == 0) {
        channel.close();
      }
    }

    /** A client that asks and takes back costs the router work, and engines too. */
    private void takenBack(HttpServerRequest request, long afterNanos) {
      SocketAddress client = channel.remoteAddress();
      if (client instanceof InetSocketAddress from
          && !resets.spend(from.getAddress(), afterNanos)) {
        LOG.debug("{} takes back too many requests", from);
        if (request.version() == HttpVersion.HTTP_2 && !ending) {
          request.connection().goAway(ENHANCE_YOUR_CALM);
        }
        ending = true;
        if (channel.isActive()) {
          close(Closed.RESETS);
        }
      }
    }

    /** Whether the newest request is not read to its end. */
    private boolean isReading() {
      return newest != null && !newest.isEnded();
    }

    /** Whether the newest request has come as a whole, and its response has not begun. */
    private boolean isAwaitingResponse() {
      return requests > 0
          && newest != null
          && newest.version() == HttpVersion.HTTP_1_1
          && newest.isEnded()
          && !newest.response().headWritten()
          && !newest.headers().contains(HttpHeaders.UPGRADE);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      context.fireUserEventTriggered(event);
      if (event instanceof ChannelInputShutdownEvent) {
        inputEnded = true;
        if (isAwaitingResponse()) {
          probe(FIRST_PROBE_MS);
        } else {
          channel.close();
        }
      }
    }

    private void probe(long nextMs) {
      HttpServerRequest waiting = newest;
      if (!channel.isActive() || waiting == null || waiting.response().headWritten()) {
        return;
      }
      waiting.response().writeContinue();
      channel.eventLoop().schedule(() -> probe(2 * nextMs), nextMs, TimeUnit.MILLISECONDS);
    }

    /**
     * A broken connection concerns nobody but those whose requests end with it. What cannot be read
     * is told to the request that it belongs to, if that one has begun.
     */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      LOG.debug("the connection of {} is broken", channel.remoteAddress(), cause);
      adder(Closed.BROKEN).increment();
      if (!(cause instanceof IOException) && isReading()) {
        context.fireExceptionCaught(cause);
      } else {
        context.close();
      }
    }

    /** What was answered before is sent. */
    @Override
    public void close(ChannelHandlerContext context, ChannelPromise promise) {
      context.flush();
      context.close(promise);
    }
  }
}
