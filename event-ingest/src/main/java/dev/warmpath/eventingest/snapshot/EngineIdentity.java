package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.CopyCounting;

/**
 * What must be the same for an engine's blocks to mean the same again.
 *
 * @param droppedBlocks see {@link EngineRules}
 * @param removals see {@link EngineRules}
 * @param namespaces see {@link EngineRules}, as text: what is held was named accordingly
 */
public record EngineIdentity(
    EngineId id,
    String model,
    EngineDialect dialect,
    int droppedBlocks,
    CopyCounting removals,
    String namespaces) {

  /** Of a configured engine. */
  public static EngineIdentity of(EngineSource source) {
    EngineRules rules = source.rules();
    return new EngineIdentity(
        source.id(),
        source.model(),
        rules.dialect(),
        rules.droppedBlocks(),
        rules.removals(),
        rules.sglang().namespaces().text());
  }
}
