package dev.warmpath.router.logs;

import dev.warmpath.kvindex.block.BlockChain;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as the log shows it: 32 bits for each piece of {@value PromptPieces#TOKENS} tokens.
 * Equal numbers in the same place behind equal ones stand for equal prefixes. Of a session's prompt
 * only what differs from the one before is written.
 *
 * <p>Confined to the log's thread.
 */
final class PromptHashes {

  /** Bound of what is remembered of sessions, 4 MiB. */
  private static final int MOST_REMEMBERED = 1 << 20;

  /**
   * A prompt's pieces.
   *
   * @param keep leading pieces that are those of the session's prompt before
   * @param others the other pieces, base64 of 4 bytes each
   */
  record Pieces(int keep, String others) {}

  private final LogKey key;
  private final LinkedHashMap<String, int[]> bySession = new LinkedHashMap<>(16, 0.75f, true);
  private int remembered;

  PromptHashes(LogKey key) {
    this.key = key;
  }

  /** The pieces of a prompt; {@code session} remembers them for the next one. */
  Pieces of(BlockChain chain, @Nullable String session) {
    int[] before = session == null ? new int[0] : bySession.getOrDefault(session, new int[0]);
    int[] now = new int[chain.blocks()];
    Arrays.setAll(now, i -> key.block(chain.blockKey(i)));
    int differ = Arrays.mismatch(before, now);
    int keep = differ < 0 ? now.length : differ;
    if (session != null) {
      remember(session, now);
    }
    return new Pieces(keep, base64(now, keep));
  }

  /** A new file begins: its lines refer to none of another. */
  void forget() {
    bySession.clear();
    remembered = 0;
  }

  private void remember(String session, int[] pieces) {
    int[] replaced = bySession.put(session, pieces);
    remembered += pieces.length - (replaced == null ? 0 : replaced.length);
    Iterator<Map.Entry<String, int[]>> oldest = bySession.entrySet().iterator();
    while (remembered > MOST_REMEMBERED && oldest.hasNext()) {
      remembered -= oldest.next().getValue().length;
      oldest.remove();
    }
  }

  private static String base64(int[] pieces, int from) {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * (pieces.length - from));
    bytes.asIntBuffer().put(pieces, from, pieces.length - from);
    return Base64.getEncoder().withoutPadding().encodeToString(bytes.array());
  }
}
