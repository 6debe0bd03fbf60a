package dev.warmpath.simulator.live;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The tokens of one request, prompt and answer, and the digests of their full blocks.
 *
 * <p>Single writer.
 */
final class BlockHashes {

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
