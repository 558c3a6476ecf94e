import Testing

@testable import IngestRecords

@Suite struct GatewayIdentityTests {
    /// Expected: HMAC-SHA256 by Python's hmac, first 8 bytes.
    @Test(arguments: ["00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff\n"])
    func theNameIsDerivedFromTheMachineID(text: String) {
        #expect(GatewayIdentity.name(machineID: text) == "gateway-dfdef67e58a2d398")
    }

    @Test(arguments: ["", "uninitialized\n", "0011", "00112233445566778899aabbccddeeff00", "zz"])
    func otherTextsAreNoMachineID(text: String) {
        #expect(GatewayIdentity.name(machineID: text) == nil)
    }
}
