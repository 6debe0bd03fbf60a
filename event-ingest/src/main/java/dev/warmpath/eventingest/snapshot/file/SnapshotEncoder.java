package dev.warmpath.eventingest.snapshot.file;

import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.snapshot.EngineIdentity;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot.Gap;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.ChainSpace;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Writes an {@link IngestSnapshot} as bytes; docs/router-snapshot.md describes them.
 *
 * <p>Confined to its caller.
 */
final class SnapshotEncoder {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  private SnapshotEncoder() {}

  static byte[] bytes(IngestSnapshot snapshot) throws IOException {
    SnapshotEncoder output = new SnapshotEncoder();
    output.write(snapshot);
    return output.bytes.toByteArray();
  }

  private void write(IngestSnapshot snapshot) throws IOException {
    out.writeLong(snapshot.taken().toEpochMilli());
    out.writeInt(snapshot.engines().size());
    for (EngineSnapshot engine : snapshot.engines()) {
      write(engine.identity());
      out.writeInt(engine.slot());
      out.writeLong(engine.namedBlocks());
      StreamSnapshot stream = engine.stream();
      out.writeBoolean(stream != null);
      if (stream != null) {
        write(stream);
      }
    }
  }

  private void write(EngineIdentity identity) throws IOException {
    text(identity.id().replica());
    out.writeInt(identity.id().dpRank());
    text(identity.model());
    boolean usual = identity.removals() == identity.dialect().removals();
    text(identity.dialect().name() + (usual ? "" : " " + identity.removals().name()));
    out.writeInt(identity.droppedBlocks());
    text(identity.namespaces());
  }

  private void write(StreamSnapshot stream) throws IOException {
    out.writeLong(stream.lastSequence());
    out.writeLong(stream.lastDigest());
    out.writeDouble(stream.startSeconds());
    Gap gap = stream.gap();
    out.writeBoolean(gap != null);
    if (gap != null) {
      text(gap.why());
      out.writeBoolean(gap.mayBeReplayed());
    }
    write(stream.learned());
  }

  private void write(LearnedCache learned) throws IOException {
    LearnedCache.Groups groups = learned.groups();
    out.writeInt(groups.described().size());
    for (CacheGroup group : groups.described()) {
      out.writeInt(group.index());
      text(group.kind().name());
      out.writeInt(group.blockSizeTokens());
      out.writeInt(group.slidingWindowTokens());
    }
    out.writeInt(groups.highest());
    out.writeInt(learned.mainGroup());
    ChainSpace space = learned.space();
    out.writeBoolean(space != null);
    if (space != null) {
      text(space.model());
      out.writeInt(space.blockSizeTokens());
      out.writeInt(space.lookaheadTokens());
    }
    out.writeBoolean(learned.anyComputed());
    out.writeInt(groups.windowTokens());
    out.writeInt(learned.chunkBlocks());
  }

  private void text(String text) throws IOException {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(utf8.length);
    out.write(utf8);
  }
}
