package dev.warmpath.router.console;

import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.config.FileWatch.WatchedFile;
import dev.warmpath.router.config.Reloader;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.prompt.Tokenizers;
import dev.warmpath.router.proxy.BodyRoom;
import dev.warmpath.router.proxy.ClientConnections;
import dev.warmpath.router.proxy.HealthPage;
import dev.warmpath.router.proxy.Lifecycle;
import dev.warmpath.router.security.AdminKey;
import dev.warmpath.router.security.ServerTls;
import dev.warmpath.router.tokenize.LoadedTokenizers;
import dev.warmpath.router.tokenize.ParityWatch;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the admin endpoints look at and set going.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param running the configuration that holds at the moment
 * @param connections those of the admin port
 * @param clear takes a replica's name, forgets what its caches hold, returns of how many engines
 * @param parity null if tokens are not compared
 * @param files that are read again when they change
 * @param cluster null if this router is alone
 */
public record AdminContext(
    Supplier<RouterConfig> running,
    Security security,
    ClientConnections connections,
    Reloader reloader,
    Fleet fleet,
    Membership membership,
    Dispatcher dispatcher,
    Prewarming prewarming,
    PromptPool prompts,
    Supplier<List<EngineStatus>> streams,
    KvIndex index,
    Supplier<String> metrics,
    HealthPage health,
    ToIntFunction<String> clear,
    Lifecycle lifecycle,
    BodyRoom bodies,
    LoadedTokenizers tokenizers,
    @Nullable ParityWatch parity,
    Tokenizers models,
    Console console,
    Supplier<List<WatchedFile>> files,
    @Nullable Cluster cluster) {

  RouterConfig config() {
    return running.get();
  }

  /**
   * What requests to the admin port need.
   *
   * @param key null for none
   * @param tls null for none
   */
  public record Security(@Nullable AdminKey key, @Nullable ServerTls tls) {}
}
