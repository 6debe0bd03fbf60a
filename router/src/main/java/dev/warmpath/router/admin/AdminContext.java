package dev.warmpath.router.admin;

import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.dispatch.Dispatcher;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.proxy.Openness;
import java.util.List;
import java.util.function.Supplier;

/**
 * What the admin endpoints look at.
 *
 * <p>Thread-safe if its parts are.
 */
public record AdminContext(
    RouterConfig.Address address,
    RouterConfig.Limits limits,
    Fleet fleet,
    Dispatcher dispatcher,
    PromptPool prompts,
    Supplier<List<EngineStatus>> streams,
    KvIndex index,
    Supplier<String> metrics,
    Openness openness) {}
