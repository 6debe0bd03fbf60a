package dev.warmpath.simulator.fault;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.simulator.live.WireForm;

/** Whose events, written how. Immutable. */
enum Form {
  VLLM_ARRAYS(EngineDialect.VLLM, WireForm.ARRAY),
  VLLM_MAPS(EngineDialect.VLLM, WireForm.MAP),
  SGLANG_ARRAYS(EngineDialect.SGLANG, WireForm.ARRAY),
  SGLANG_MAPS(EngineDialect.SGLANG, WireForm.MAP);

  final EngineDialect dialect;
  private final WireForm wire;

  Form(EngineDialect dialect, WireForm wire) {
    this.dialect = dialect;
    this.wire = wire;
  }

  FaultyEngine engine() {
    return dialect == EngineDialect.VLLM ? new VllmEngine(wire) : new SglangEngine(wire);
  }
}
