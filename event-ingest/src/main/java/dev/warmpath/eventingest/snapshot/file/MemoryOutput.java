package dev.warmpath.eventingest.snapshot.file;

import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.snapshot.EngineIdentity;
import dev.warmpath.eventingest.snapshot.EngineMemory;
import dev.warmpath.eventingest.snapshot.IngestMemory;
import dev.warmpath.eventingest.snapshot.StreamMemory;
import dev.warmpath.eventingest.snapshot.StreamMemory.Gap;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.ChainSpace;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Writes an {@link IngestMemory} as bytes; docs/router-snapshot.md describes them.
 *
 * <p>Confined to its caller.
 */
final class MemoryOutput {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  private MemoryOutput() {}

  static byte[] bytes(IngestMemory memory) throws IOException {
    MemoryOutput output = new MemoryOutput();
    output.write(memory);
    return output.bytes.toByteArray();
  }

  private void write(IngestMemory memory) throws IOException {
    out.writeLong(memory.taken().toEpochMilli());
    out.writeInt(memory.engines().size());
    for (EngineMemory engine : memory.engines()) {
      write(engine.identity());
      out.writeInt(engine.slot());
      out.writeLong(engine.namedBlocks());
      StreamMemory stream = engine.stream();
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

  private void write(StreamMemory stream) throws IOException {
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
