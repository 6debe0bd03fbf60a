package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.bench.ProcFiles.MachineTime;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.lab.gateway.GatewayBench.GatewaySetup;
import dev.warmpath.lab.gateway.LoadClient.OpenLoad;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench restart}: restarts routers under load.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "restart",
    description = {
      "Starts two stub replicas, two routers behind a TCP balancer, and asks for streams at fixed",
      "instants while one router after the other is ended by SIGTERM and replaced. Ends with 1 when",
      "a stream was lost."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench restart --rate 300 --seconds 120"})
public final class BenchRestartCommand implements WarmpathCommand {

  @Mixin private BenchOutput.WithLogs output = new BenchOutput.WithLogs();

  @Option(
      names = "--rate",
      defaultValue = "300",
      description = "Streams a second (${DEFAULT-VALUE}).")
  private double rate;

  @Option(names = "--seconds", defaultValue = "60", description = "Of load (${DEFAULT-VALUE}).")
  private double seconds;

  @Option(
      names = "--delay-ms",
      defaultValue = "1000",
      description =
          "The routers' shutdown.delay-ms (${DEFAULT-VALUE}); the balancer asks five times as"
              + " often whether they are ready.")
  private int delayMillis;

  @Mixin private ServedRouter.RouterFlags router = new ServedRouter.RouterFlags();

  @Override
  public Integer call() throws IOException, InterruptedException {
    GatewaySetup setup =
        new GatewaySetup(
            List.of(0, 0),
            List.of(),
            router.tokenizer(),
            router.serveFlags(),
            output.directory("warmpath-restart"));
    RestartReport report = run(setup);
    output.report(report::print, report.json());
    return report.isFlawless() ? Exit.OK : Exit.FAILED;
  }

  private RestartReport run(GatewaySetup setup) throws InterruptedException {
    try {
      RestartBench.Plan plan = new RestartBench.Plan(rate, seconds, delayMillis);
      return new RestartBench(plan, setup, output::progress).run();
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  /**
   * What became of streams while routers were restarted. Times are nanoseconds.
   *
   * @param restarts that began under the load
   * @param answered whole streams
   * @param failures other requests, by reason
   * @param dueToSent from the instant at which a request was due
   * @param busyShare of the machine's processors
   */
  record RestartReport(
      int restarts,
      int answered,
      Map<String, Integer> failures,
      Percentiles dueToSent,
      Percentiles dueToFirstByte,
      Percentiles dueToLastByte,
      double busyShare) {

    RestartReport {
      failures = Map.copyOf(failures);
    }

    /** Whether there were restarts, and every stream was whole. */
    boolean isFlawless() {
      return restarts > 0 && failures.isEmpty();
    }

    private int failed() {
      return failures.values().stream().mapToInt(Integer::intValue).sum();
    }

    ObjectNode json() {
      ObjectNode root = new ObjectMapper().createObjectNode();
      root.put("restarts", restarts).put("n", answered).put("errors", failed());
      ObjectNode reasons = root.putObject("errorReasons");
      failures.forEach(reasons::put);
      put(root.putObject("dueToSentMicros"), dueToSent);
      put(root.putObject("dueToFirstByteMicros"), dueToFirstByte);
      put(root.putObject("dueToLastByteMicros"), dueToLastByte);
      root.put("busyShare", Math.round(busyShare * 1e3) / 1e3);
      return root;
    }

    private static void put(ObjectNode to, Percentiles nanos) {
      to.put("p50", nanos.p50() / 1_000);
      to.put("p99", nanos.p99() / 1_000);
      to.put("p999", nanos.p999() / 1_000);
    }

    void print(PrintWriter to) {
      to.printf(
          "%d restarts: %,d streams whole, %d lost %s%n", restarts, answered, failed(), failures);
      to.printf(
          "us p50 / p99 / p99.9: due to sent %s, to first byte %s, to last byte %s; %.0f %% of the processors busy%n",
          dueToSent.micros(), dueToFirstByte.micros(), dueToLastByte.micros(), 100 * busyShare);
    }
  }

  /**
   * Restarts two routers behind a TCP balancer, one after the other, while streams are asked for at
   * fixed instants. Replicas, routers and load are processes of their own.
   *
   * <p>Confined to its caller.
   */
  private static final class RestartBench {

    private static final int CONNECTIONS = 2_048;
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int CHECKS_A_DELAY = 5;
    private static final long PAUSE_SECONDS = 3;

    private final Plan plan;
    private final GatewaySetup setup;
    private final Consumer<String> progress;
    private final ProcFiles proc;
    private final Queue<ServedRouter> routers = new ArrayDeque<>();
    private int started;
    private long latestNanos;

    /**
     * How long and how hard.
     *
     * @param perSecond streams a second
     * @param seconds length of the load; no restart begins after it
     * @param delayMillis the routers' {@code shutdown.delay-ms}; the balancer asks for readiness
     *     five times as often
     */
    record Plan(double perSecond, double seconds, int delayMillis) {
      Plan {
        if (!(perSecond * seconds >= 1 && perSecond * seconds <= 200_000) || delayMillis < 100) {
          throw new IllegalArgumentException(
              "1 to 200,000 requests and a delay of at least 100 ms: perSecond=%s seconds=%s delayMillis=%d"
                  .formatted(perSecond, seconds, delayMillis));
        }
      }
    }

    /**
     * @throws IOException if the system shows no CPU times
     */
    RestartBench(Plan plan, GatewaySetup setup, Consumer<String> progress) throws IOException {
      this.plan = plan;
      this.setup = setup;
      this.progress = progress;
      proc = ProcFiles.ofTheMachine();
    }

    /**
     * Runs it.
     *
     * @throws IOException if a process does not come up or ends too soon, with the end of its log;
     *     or if streams were lost and the machine was too busy to avoid the router that leaves
     */
    BenchRestartCommand.RestartReport run() throws IOException, InterruptedException {
      try (Backends backends = Backends.start(setup.ports(), setup.log("replicas"));
          TcpBalancer balancer = new TcpBalancer(plan.delayMillis() / CHECKS_A_DELAY);
          LoadClient client = new LoadClient(CONNECTIONS)) {
        backends.answer(AnswerShape.PACED);
        start(backends, balancer);
        start(backends, balancer);
        return underLoad(backends, balancer, client);
      } finally {
        routers.forEach(ServedRouter::close);
      }
    }

    private void start(Backends backends, TcpBalancer balancer)
        throws IOException, InterruptedException {
      started++;
      List<String> flags = new ArrayList<>();
      for (String set :
          List.of(
              "parity.enabled=false",
              "shutdown.delay-ms=" + plan.delayMillis(),
              "shutdown.deadline-ms=30000")) {
        flags.addAll(List.of("--set", set));
      }
      flags.addAll(setup.serveFlags());
      ServedRouter router =
          new ServedRouter(
              Backends.MODEL,
              backends.replicas(),
              setup.tokenizer(),
              flags,
              setup.log("router-" + started));
      routers.add(router);
      progress.accept("router %d ready after %.1f s".formatted(started, router.awaitReady()));
      balancer.add(router);
    }

    private BenchRestartCommand.RestartReport underLoad(
        Backends backends, TcpBalancer balancer, LoadClient client)
        throws IOException, InterruptedException {
      GatewayCell cell = GatewayCell.STREAMS.at(plan.perSecond());
      List<ByteBuf> requests = cell.requests(Backends.MODEL, cell.count(plan.seconds()), 1);
      OpenLoad load =
          new OpenLoad(List.of(balancer.address()), requests, true, plan.perSecond(), LIMIT);
      MachineTime begin = proc.machineTime();
      try (RunningLoad running = client.start(load)) {
        long end = running.schedule().dueNanos(requests.size());
        int restarts = 0;
        for (pause(); System.nanoTime() - end < 0; pause()) {
          restart(backends, balancer);
          restarts++;
        }
        LoadTimes times = running.await();
        requireInTime(times);
        return new BenchRestartCommand.RestartReport(
            restarts,
            times.answered(0),
            times.failures(0),
            times.dueToSent(0),
            times.dueToFirstByte(0),
            times.dueToLastByte(0),
            proc.machineTime().busyShareSince(begin));
      }
    }

    /**
     * A router refuses what comes on a new connection when its delay is over; until the balancer
     * hears that it leaves, requests go to it, and some wait there.
     */
    private void requireInTime(LoadTimes times) throws IOException {
      long heard = TimeUnit.NANOSECONDS.toMillis(latestNanos);
      long answered = TimeUnit.NANOSECONDS.toMillis(times.dueToFirstByte(0).p999());
      if (!times.failures(0).isEmpty() && heard + answered > plan.delayMillis()) {
        throw new IOException(
            "lost %s, but the machine is too busy to tell: the balancer heard that a router leaves after up to %,d ms, first bytes came up to %,d ms after requests were due, and routers wait for %,d ms; raise --delay-ms"
                .formatted(times.failures(0), heard, answered, plan.delayMillis()));
      }
    }

    private void restart(Backends backends, TcpBalancer balancer)
        throws IOException, InterruptedException {
      ServedRouter leaving = routers.remove();
      long begin = System.nanoTime();
      leaving.close();
      progress.accept("a router left in %.1f s".formatted((System.nanoTime() - begin) / 1e9));
      latestNanos = Math.max(latestNanos, balancer.remove(leaving) - begin);
      start(backends, balancer);
    }

    private static void pause() throws InterruptedException {
      TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
    }
  }

  /**
   * Gives each new connection to one of the routers that are ready, in turns, and passes bytes on.
   * It asks every router for its readiness at an interval, one that answers late keeping no other
   * from being asked, and knows nothing else of HTTP.
   *
   * <p>Thread-safe.
   */
  private static final class TcpBalancer implements AutoCloseable {

    private final EventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private static final int ROUTERS = 2;

    private final ScheduledExecutorService checks = Executors.newScheduledThreadPool(ROUTERS);
    private final long checkMillis;
    private final Map<ServedRouter, Boolean> ready = new ConcurrentHashMap<>();

    /** When each router was first found to be no longer ready. */
    private final Map<ServedRouter, Long> unreadyNanos = new ConcurrentHashMap<>();

    private final Channel server;
    private int turn;

    /**
     * Listens on any port.
     *
     * @param checkMillis time between two questions for readiness
     */
    TcpBalancer(long checkMillis) {
      this.checkMillis = checkMillis;
      server =
          new ServerBootstrap()
              .group(loop)
              .channel(NioServerSocketChannel.class)
              .childOption(ChannelOption.AUTO_READ, false)
              .childOption(ChannelOption.TCP_NODELAY, true)
              .childHandler(
                  new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel client) {
                      connect(client);
                    }
                  })
              .bind(Gateway.loopback(0))
              .syncUninterruptibly()
              .channel();
    }

    InetSocketAddress address() {
      return (InetSocketAddress) server.localAddress();
    }

    /** The router, which is ready, gets connections. */
    void add(ServedRouter router) {
      ready.put(router, true);
      var unused = checks.schedule(() -> check(router), checkMillis, TimeUnit.MILLISECONDS);
    }

    /** Forgets a router that has left; when it was found to be unready, or now if it never was. */
    long remove(ServedRouter router) {
      ready.remove(router);
      return unreadyNanos.getOrDefault(router, System.nanoTime());
    }

    private void check(ServedRouter router) {
      try {
        boolean is = router.isReady();
        if (is) {
          unreadyNanos.remove(router);
        } else {
          unreadyNanos.putIfAbsent(router, System.nanoTime());
        }
        if (ready.computeIfPresent(router, (known, was) -> is) != null) {
          var unused = checks.schedule(() -> check(router), checkMillis, TimeUnit.MILLISECONDS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void connect(Channel client) {
      List<ServedRouter> now = ready.keySet().stream().filter(ready::get).toList();
      if (now.isEmpty()) {
        close(client);
        return;
      }
      ServedRouter router = now.get(Math.floorMod(turn++, now.size()));
      Bootstrap bootstrap =
          new Bootstrap()
              .group(client.eventLoop())
              .channel(NioSocketChannel.class)
              .option(ChannelOption.TCP_NODELAY, true)
              .handler(new Pass(client));
      ChannelFuture unused =
          bootstrap
              .connect(Gateway.loopback(router.port()))
              .addListener((ChannelFuture future) -> {
                if (future.isSuccess()) {
                  client.pipeline().addLast(new Pass(future.channel()));
                  client.config().setAutoRead(true);
                } else {
                  close(client);
                }
              });
    }

    private static void close(Channel client) {
      ChannelFuture unused = client.close();
    }

    /** Passes what comes on one connection to the other, and ends that with this. */
    private static final class Pass extends ChannelInboundHandlerAdapter {
      private final Channel to;

      Pass(Channel to) {
        this.to = to;
      }

      @Override
      public void channelRead(ChannelHandlerContext context, Object bytes) {
        ChannelFuture unused = to.writeAndFlush(bytes);
      }

      @Override
      public void channelInactive(ChannelHandlerContext context) {
        ChannelFuture unused =
            to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        ChannelFuture unused = context.close();
      }
    }

    @Override
    public void close() {
      checks.shutdownNow();
      loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
  }
}
