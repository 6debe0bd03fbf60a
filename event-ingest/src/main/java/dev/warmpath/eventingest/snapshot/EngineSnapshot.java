package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What a process saves of one engine beside the index.
 *
 * @param slot its slot in the index
 * @param namedBlocks named blocks that the index held of it
 * @param stream where its stream stood, or null if there is nothing to go on from
 */
public record EngineSnapshot(
    Identity identity, int slot, long namedBlocks, @Nullable StreamSnapshot stream) {

  /**
   * What must be the same for an engine's blocks to mean the same again.
   *
   * @param droppedBlocks see {@link EngineRules}
   * @param removals see {@link EngineRules}
   * @param namespaces see {@link EngineRules}, as text: what is held was named accordingly
   */
  public record Identity(
      EngineId id,
      String model,
      EngineDialect dialect,
      int droppedBlocks,
      CopyCounting removals,
      String namespaces) {

    /** Of a configured engine. */
    public static Identity of(EngineSource source) {
      EngineRules rules = source.rules();
      return new Identity(
          source.id(),
          source.model(),
          rules.dialect(),
          rules.droppedBlocks(),
          rules.removals(),
          rules.sglang().namespaces().text());
    }

    void writeTo(SnapshotOutput out) {
      out.text(id.replica());
      out.int32(id.dpRank());
      out.text(model);
      boolean usual = removals == dialect.removals();
      out.text(dialect.name() + (usual ? "" : " " + removals.name()));
      out.int32(droppedBlocks);
      out.text(namespaces);
    }

    static Identity readFrom(SnapshotInput in) throws IOException {
      EngineId id = new EngineId(in.text("replica"), in.int32("rank", 0, Integer.MAX_VALUE));
      String model = in.text("model");
      String[] named = in.text("dialect").split(" ", 2);
      EngineDialect dialect = EngineDialect.valueOf(named[0]);
      CopyCounting removals =
          named.length == 1 ? dialect.removals() : CopyCounting.valueOf(named[1]);
      int droppedBlocks = in.int32("droppedBlocks", Integer.MIN_VALUE, Integer.MAX_VALUE);
      return new Identity(id, model, dialect, droppedBlocks, removals, in.text("namespaces"));
    }
  }

  public EngineSnapshot {
    if (slot < 0 || namedBlocks < 0) {
      throw new IllegalArgumentException("slot=" + slot + " namedBlocks=" + namedBlocks);
    }
  }

  void writeTo(SnapshotOutput out) {
    identity.writeTo(out);
    out.int32(slot);
    out.int64(namedBlocks);
    out.flag(stream != null);
    if (stream != null) {
      stream.writeTo(out);
    }
  }

  static EngineSnapshot readFrom(SnapshotInput in) throws IOException {
    Identity identity = Identity.readFrom(in);
    int slot = in.int32("slot", 0, Integer.MAX_VALUE);
    long namedBlocks = in.count("namedBlocks");
    StreamSnapshot stream = in.flag("known") ? StreamSnapshot.readFrom(in) : null;
    return new EngineSnapshot(identity, slot, namedBlocks, stream);
  }
}
