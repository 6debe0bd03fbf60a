package dev.warmpath.simulator.live;

import dev.warmpath.simulator.engine.EngineRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A request with the digests of its blocks, computed when they are first asked for.
 *
 * <p>Single writer.
 */
public final class HashedRequest extends EngineRequest {

  private final TokenRequest request;
  private final BlockHashes hashes;

  /** The request, for an engine with blocks of this size and this hash. */
  public HashedRequest(TokenRequest request, int blockSizeTokens, BlockHashing hashing) {
    this(request, new BlockHashes(request, blockSizeTokens, hashing));
  }

  private HashedRequest(TokenRequest request, BlockHashes hashes) {
    super(
        block -> hashes.of(block).name(),
        request.prompt().length,
        request.answer().length,
        request.readsCache(),
        request.transfer(),
        request.mostLoadTokens());
    this.request = request;
    this.hashes = hashes;
  }

  public TokenRequest request() {
    return request;
  }

  /** The digest of full block {@code block}. */
  public BlockHash hash(int block) {
    return hashes.of(block);
  }

  int[] tokens(int fromBlock, int toBlock) {
    return hashes.tokens(fromBlock, toBlock);
  }

  /**
   * The tokens of one request, prompt and answer, and the digests of their full blocks.
   *
   * <p>Single writer.
   */
  private static final class BlockHashes {

    private final TokenRequest request;
    private final int blockSizeTokens;
    private final BlockHashing hashing;
    private final int[] tokenIds;
    private final List<BlockHash> hashes = new ArrayList<>();

    BlockHashes(TokenRequest request, int blockSizeTokens, BlockHashing hashing) {
      this.request = request;
      this.blockSizeTokens = blockSizeTokens;
      this.hashing = hashing;
      int[] prompt = request.prompt();
      int[] answer = request.answer();
      tokenIds = Arrays.copyOf(prompt, prompt.length + answer.length);
      System.arraycopy(answer, 0, tokenIds, prompt.length, answer.length);
    }

    BlockHash of(int block) {
      while (hashes.size() <= block) {
        int next = hashes.size();
        BlockHash parent = next == 0 ? null : hashes.get(next - 1);
        int from = next * blockSizeTokens;
        hashes.add(
            hashing.hash(
                parent, tokenIds, from, blockSizeTokens, request.keys().of(next, blockSizeTokens)));
      }
      return hashes.get(block);
    }

    int[] tokens(int fromBlock, int toBlock) {
      return Arrays.copyOfRange(tokenIds, fromBlock * blockSizeTokens, toBlock * blockSizeTokens);
    }
  }
}
